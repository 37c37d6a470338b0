"""The REST API of a swe-ci server, as far as the task needs it."""

import os
from typing import Any

import httpx

from .refusal import Refusal

TOKEN_VARIABLE = "SWE_CI_TOKEN"
"""Environment variable with the API token. A parameter would get into logs."""

_NEED = f"set {TOKEN_VARIABLE} to an API token with the scope submitter"
_SECONDS = 60.0
_PAGE = 500
_LATER = (429, 502, 503, 504)
"""Statuses after which the same request may succeed."""

Json = dict[str, Any]


class ServerError(Refusal, RuntimeError):
    """The server refused a request, or did not answer."""


class ServerAway(ServerError):
    """The server does not answer now: it may do so later."""


class Server:
    """A swe-ci server, by its address."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def __repr__(self) -> str:
        return self.address

    def need_token(self) -> None:
        """Refuses to go on without one: only accounts start runs."""
        if not os.environ.get(TOKEN_VARIABLE):
            raise Refusal(f"{_NEED}: only accounts start runs")

    def get(self, path: str, **query: str) -> Any:
        """What the API answers at an address."""
        try:
            with httpx.Client(timeout=_SECONDS, headers=self._headers()) as client:
                answer = client.get(self._url(path), params=query)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return self._content(answer)

    def tasks(self, split: str, state: str | None = "ready") -> list[Json]:
        """The tasks of a split in its order, by default those that can run."""
        query = {"split": split, "limit": str(_PAGE)}
        if state is not None:
            query["state"] = state
        found: list[Json] = []
        while True:
            page = self.get("tasks", **query)
            found.extend(page["items"])
            if page.get("next") is None:
                return found
            query["after"] = page["next"]

    async def submit(self, submission: Json) -> Json:
        """Queues a run, and returns it."""
        run: Json = await self._ask("POST", "runs", json=submission)
        return run

    async def run(self, run_id: str) -> Json:
        """A run with its evolutions."""
        run: Json = await self._ask("GET", f"runs/{run_id}")
        return run

    async def scores(self, run_id: str, gamma: float, convention: str) -> Json:
        """All scores of a run."""
        query = {"gamma": str(gamma), "convention": convention}
        scores: Json = await self._ask("GET", f"runs/{run_id}/scores", params=query)
        return scores

    async def _ask(self, method: str, path: str, **request: Any) -> Any:
        try:
            async with httpx.AsyncClient(timeout=_SECONDS, headers=self._headers()) as client:
                answer = await client.request(method, self._url(path), **request)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return self._content(answer)

    def _url(self, path: str) -> str:
        return f"{self.address}/api/v1/{path}"

    def _headers(self) -> dict[str, str]:
        token = os.environ.get(TOKEN_VARIABLE, "")
        return {"authorization": f"Bearer {token}"} if token else {}

    def _unreachable(self, error: httpx.HTTPError) -> ServerAway:
        return ServerAway(f"{self.address} does not answer: {error or type(error).__name__}")

    def _content(self, answer: httpx.Response) -> Any:
        if answer.is_success:
            return answer.json()
        kind = ServerAway if answer.status_code in _LATER else ServerError
        raise kind(
            f"{answer.request.method} {answer.request.url.path}: {_problem(answer)}"
            + _advice(answer.status_code)
        )


def _problem(answer: httpx.Response) -> str:
    """The server's words (RFC 9457), with every invalid field of a configuration."""
    try:
        problem = answer.json()
        fields = [f"{bad['field']}: {bad['problem']}" for bad in problem.get("problems", [])]
        return f"{answer.status_code}, {'; '.join(fields) or problem['detail']}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{answer.status_code}, {answer.text[:200]}"


def _advice(status: int) -> str:
    if status not in (401, 403):
        return ""
    return f"; {_NEED}"
