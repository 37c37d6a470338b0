"""The client. The types of its parameters and answers are generated from the
server's description of its API, so a type checker knows every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .columns import COLUMNS
from .connection import Connection, quoted
from .errors import ServerAway
from .table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import schema as api

_PAGE = 500


class Client:
    """A swe-ci server, by its address.

    `token` is an API token; the one in the environment variable SWE_CI_TOKEN when
    absent. Without one the server answers as it does to every visitor. A request
    takes at most `timeout` seconds to begin its answer.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 60.0) -> None:
        self._connection = Connection(url, token, timeout)

    def __repr__(self) -> str:
        return f"Client({self._connection.url!r})"

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of any operation, such as `get("runs/ID/steps")`; in full it is
        `get("/api/v1/runs/ID/steps")`."""
        return self._connection.json(path.removeprefix("/").removeprefix("api/v1/"), query)

    def leaderboard(self, **query: Unpack[api.LeaderboardParametersQuery]) -> Table[api.Row, None]:
        """The leaderboard of a split, best first, with 95 % intervals."""
        return Table(self._pages("leaderboard", query), None, COLUMNS["Row"])

    def tasks(self, **query: Unpack[api.TasksParametersQuery]) -> Table[api.TaskSummary, None]:
        """Tasks, by default all of all splits."""
        return Table(self._pages("tasks", query), None, COLUMNS["TaskSummary"])

    def runs(self, **query: Unpack[api.RunsParametersQuery]) -> Table[api.ListedRun, None]:
        """Runs, the newest first."""
        return Table(self._pages("runs", query), None, COLUMNS["ListedRun"])

    def splits(self) -> Table[api.SplitSummary, None]:
        """The splits, with the number of their tasks."""
        return Table(self.get("splits"), None, COLUMNS["SplitSummary"])

    def published(self) -> Table[api.PublishedRow, api.Published]:
        """The results of the paper, as its authors published them."""
        document: api.Published = self.get("published")
        return Table(document["rows"], document, COLUMNS["PublishedRow"])

    def results(self, task: str) -> Table[api.TaskResult, None]:
        """The result of every run on a task."""
        rows = self.get(f"tasks/{quoted(task)}/results")
        return Table(rows, None, COLUMNS["TaskResult"])

    def task(self, task: str) -> api.TaskDetail:
        """A task with its tests and its history."""
        answer: api.TaskDetail = self.get(f"tasks/{quoted(task)}")
        return answer

    def run(self, run: str) -> api.RunDetail:
        """A run with its evolutions."""
        answer: api.RunDetail = self.get(f"runs/{quoted(run)}")
        return answer

    def scores(
        self, run: str, **query: Unpack[api.ScoresParametersQuery]
    ) -> Table[api.EvolutionScore, api.Scores]:
        """The scores of a run's evolutions; its means are in `document`."""
        document: api.Scores = self.get(f"runs/{quoted(run)}/scores", **query)
        return Table(document["tasks"], document, COLUMNS["EvolutionScore"])

    def compare(
        self, *runs: str, gamma: float | None = None, convention: api.Convention | None = None
    ) -> Table[dict[str, Any], api.Versus]:
        """The tasks that all of these runs share, with the score of each run; pairs
        with their tests are in `document`."""
        query = {"runs": ",".join(runs), "gamma": gamma, "convention": convention}
        document: api.Versus = self.get("compare", **query)
        rows, columns = self._connection.csv("compare.csv", query)
        return Table(rows, document, columns)

    def matrix(self, **query: Unpack[api.MatrixCsvParametersQuery]) -> Table[dict[str, Any], None]:
        """The result of every run on every task of a split."""
        rows, columns = self._connection.csv("matrix.csv", query)
        return Table(rows, None, columns)

    def figure(
        self, name: str, **query: Unpack[api.FigureParametersQuery]
    ) -> Table[dict[str, Any], None]:
        """The numbers of a figure, such as `zero-regression`."""
        rows, columns = self._connection.csv(f"plots/{quoted(name)}.csv", query)
        return Table(rows, None, columns)

    def picture(
        self, name: str, kind: str = "svg", **query: Unpack[api.FigureParametersQuery]
    ) -> bytes:
        """A figure as the site draws it: `svg` or `png`."""
        return self._connection.content(f"plots/{quoted(name)}.{quoted(kind)}", query, "image/*")

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """All items of a list from `after` on, or the first `limit` of them."""
        left = query.get("limit")
        if left is not None and left < 1:
            raise ValueError(f"limit is {left}: give 1 or more, or leave it out for the whole list")
        after = query.get("after")
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            page = self.get(path, **{**query, "limit": size, "after": after})
            yield from page["items"]
            following = page.get("next")
            if following is None:
                return
            if following == after:
                raise ServerAway(f"{path}: the page after `{after}` is the same page again")
            after = following
            left = None if left is None else left - len(page["items"])
