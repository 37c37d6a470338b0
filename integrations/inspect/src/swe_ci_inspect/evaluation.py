"""One run of the server, which all samples of an evaluation share."""

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import anyio

from . import configuration
from .server import Json, Server, ServerAway, ServerError

UNSCORED = ("budget_spent", "blocked", "cancelled")
"""Endings without a score: the model is not to blame (docs/outcomes.md)."""

PATIENCE_SECONDS = 1_800.0
"""How long a server may be away: it is restarted now and then, and runs go on."""

OVER = ("finished", "cancelled")
"""The progress of a run that does not go on."""

NUMBERS = {
    "evoscore": "evoscore",
    "gap_closed": "gap_closed",
    "regressions": "regressions",
    "zero_regression": "zero_regression",
    "solved": "solved",
    "zrr": "zrr",
    "iterations": "turns",
}
"""The numbers of an evolution, and their names in the API. In Inspect a turn is
an answer of a model, so iterations are called iterations."""


class EvolutionFailed(RuntimeError):
    """An evolution ended without a score."""


@dataclass
class Evaluation:
    """Starts a run, or joins one, when the first sample asks; then follows it."""

    server: Server
    split: str
    config: dict[str, Any] | None
    """The fields of the run to start; absent when `run` names one."""
    run: str | None
    all_tasks: list[str]
    """Of the split: a run over all of them takes part in the ranking."""
    private: bool
    gamma: float
    convention: str
    poll_seconds: float
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    _selected: list[str] = field(default_factory=list)
    _epochs: int = 0
    _refused: ServerError | None = None
    _state: Json = field(default_factory=dict)
    _asked_at: float = 0.0
    _answered_at: float = 0.0
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    def __repr__(self) -> str:
        what = f"run {self.run}" if self.run else f"a run over {self.split}"
        return f"{what} at {self.server}"

    def select(self, tasks: list[str], epochs: int) -> None:
        """What Inspect evaluates, before any sample begins."""
        self._selected, self._epochs = tasks, epochs

    async def evolution(self, task: str, sample: int) -> Json:
        """The present state of an evolution, at most `poll_seconds` old."""
        run = await self._current()
        for evolution in run["evolution_list"]:
            if (evolution["task_id"], evolution["sample"]) == (task, sample):
                return {"run_id": run["run_id"], "run_progress": run["progress"], **evolution}
        raise ValueError(f"the run {run['run_id']} has no sample {sample} of the task {task}")

    async def score(self, task: str, sample: int) -> Json:
        """The numbers of a scored evolution."""
        scores = await self.server.scores(self._run_id(), self.gamma, self.convention)
        for entry in scores["tasks"]:
            if (entry["task_id"], entry["sample"]) == (task, sample):
                return {name: entry[in_api] for name, in_api in NUMBERS.items()}
        raise ValueError(
            f"the run {self._run_id()} has no score of sample {sample} of the task {task} "
            f"in the convention {self.convention}"
        )

    async def wait(self) -> None:
        """Waits until it makes sense to look again."""
        await anyio.sleep(self.poll_seconds)

    async def _current(self) -> Json:
        async with self._lock:
            if self.run is None:
                self.run = await self._submit()
            if not self._state or time.monotonic() - self._asked_at >= self.poll_seconds:
                await self._ask(self.run)
            return self._state

    async def _submit(self) -> str:
        """Tries once: an answer that got lost does not tell whether there is a run,
        and a second one would cost as much again."""
        if self._refused is not None:
            raise self._refused
        try:
            return str((await self.server.submit(self._submission()))["run_id"])
        except ServerError as error:
            self._refused = error
            raise

    async def _ask(self, run: str) -> None:
        self._asked_at = time.monotonic()
        try:
            self._state = await self.server.run(run)
            self._answered_at = self._asked_at
        except ServerAway:
            if not self._state or self._asked_at - self._answered_at > PATIENCE_SECONDS:
                raise

    def _run_id(self) -> str:
        if self.run is None:
            raise RuntimeError("the run has not begun")
        return self.run

    def _submission(self) -> Json:
        if not self._selected:
            raise RuntimeError(
                "Inspect did not say which samples it evaluates, so the run could cost more than "
                "it should; this takes inspect-ai 0.3.285 or later"
            )
        whole = set(self._selected) == set(self.all_tasks)
        tasks = [] if whole else self._selected
        assert self.config is not None
        return configuration.submission(self.config, self.split, tasks, self._epochs, self.private)
