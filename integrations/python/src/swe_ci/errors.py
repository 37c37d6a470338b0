"""What can go wrong between a program and a server."""

from __future__ import annotations

from typing import Any


class SweCiError(Exception):
    """All errors of this package."""


class ServerAway(SweCiError):
    """The server does not answer, or answers with something else than its API does."""


class MissingExtra(SweCiError, ImportError):
    """A package that is needed for this is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f'{package} is not installed; install it with: pip install "swe-ci[{extra}]"'
        )


class ApiError(SweCiError):
    """The server refused a request, with its problem document (RFC 9457)."""

    def __init__(self, request: str, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        """The HTTP status."""
        self.type: str = problem.get("type", "about:blank")
        """Identifies the kind of problem; it never changes."""
        self.title: str = problem.get("title", "")
        self.detail: str = problem.get("detail", "")
        """What is wrong with this request, and a valid alternative."""
        self.parameter: str | None = problem.get("parameter")
        """The invalid parameter, if that is the problem."""
        self.problems: list[dict[str, Any]] = problem.get("problems") or []
        """Every invalid field of a configuration, if that is the problem."""
        self.instance: str = problem.get("instance", "")
        """The id of the request, which the server's log has too."""
        super().__init__(request, status)
        self._request = request

    def __str__(self) -> str:
        fields = "; ".join(f"{bad['field']}: {bad['problem']}" for bad in self.problems)
        text = f"{self._request}: {self.status}, {fields or self.detail or self.title}"
        if self.status in (401, 403):
            text += "; set SWE_CI_TOKEN, or give token=, to an API token that may do this"
        return text + (f" (request {self.instance})" if self.instance else "")
