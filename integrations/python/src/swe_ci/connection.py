"""Requests to the API, by the standard library alone."""

from __future__ import annotations

import csv
import io
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from email.message import Message
from http.client import HTTPException
from typing import IO, Any, NoReturn

from .errors import ApiError, ServerAway, SweCiError

TOKEN_VARIABLE = "SWE_CI_TOKEN"
_MOST_BYTES = 256 << 20
"""Larger answers are refused: they are not of this API."""


class Connection:
    """A server by its address, and the token that is sent to it."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SweCiError(
                f"`{url}` is no address of a server, such as https://bench.example.org"
            )
        self.url = url.rstrip("/")
        self._token = os.environ.get(TOKEN_VARIABLE) if token is None else token
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def json(self, path: str, query: Mapping[str, Any]) -> Any:
        content = self.content(path, query, "application/json")
        try:
            return json.loads(content)
        except ValueError as error:
            raise ServerAway(
                f"{self.url}/api/v1/{path} is no JSON: is this a swe-ci server?"
            ) from error

    def csv(self, path: str, query: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
        """Rows of a CSV file and its header: numbers are numbers, and empty fields are None."""
        text = self.content(path, query, "text/csv").decode()
        rows = csv.DictReader(io.StringIO(text, newline=""))
        values = [{name: _value(name, text) for name, text in row.items()} for row in rows]
        return values, list(rows.fieldnames or ())

    def content(self, path: str, query: Mapping[str, Any], accept: str) -> bytes:
        encoded = urllib.parse.urlencode({k: v for k, v in query.items() if v is not None})
        address = f"{self.url}/api/v1/{path}" + (f"?{encoded}" if encoded else "")
        headers = {"Accept": f"{accept}, application/problem+json", "User-Agent": "swe-ci-python"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(address, headers=headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                content: bytes = answer.read(_MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(f"GET {path}", error)
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise ServerAway(f"{self.url} does not answer: {reason}") from error
        if len(content) > _MOST_BYTES:
            raise ServerAway(f"{address} sends more than {_MOST_BYTES >> 20} MiB")
        return content

    def _refused(self, request: str, error: urllib.error.HTTPError) -> NoReturn:
        if 300 <= error.code < 400:
            # A redirect could carry the token elsewhere.
            raise ServerAway(f"{self.url} has moved to {error.headers.get('location')}: name that")
        try:
            problem = json.loads(error.read(1 << 20))
        except (ValueError, OSError, HTTPException):
            problem = None
        if not isinstance(problem, dict):
            problem = {"title": str(error.reason)}
        raise ApiError(request, error.code, problem) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def quoted(name: str) -> str:
    """A name as one segment of a path."""
    return urllib.parse.quote(name, safe="")


_TEXTS = frozenset(
    (
        *("absence", "convention", "figure", "kind", "model", "provider"),
        *("release_date", "repo", "run_id", "split", "task_id"),
    )
)
"""Columns that are texts, even if a model is called `4`."""


def _value(name: str, text: str | None) -> str | float | int | None:
    if not text:
        return None
    for number in () if name in _TEXTS else (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
