"""Evolutions as an environment for reinforcement learning, without any library:

    evolution = Evolution("tasks/evolution/sqlparse-0.4.4-0.5.3")
    observation = evolution.reset()
    step = evolution.step({"sqlparse/sql.py": "…"})

One step is one iteration: the changed files are taken over, the tests run in a
fresh container without a network, and the reward is the share of the task's gap
that the iteration closes, minus the share that it opens by losing tests. The
folder is one that `swe-ci dataset export SPLIT FOLDER --as harbor` writes.
"""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import SweCiError

_MOST_MESSAGE = 2_000
_MOST_FILE = 1 << 20


@dataclass(frozen=True)
class FailingTest:
    """A test of the target that does not pass yet."""

    node_id: str
    outcome: str
    message: str


@dataclass(frozen=True)
class Observation:
    """What an agent sees before an iteration."""

    iteration: int
    """Of the iteration to come, from 1."""
    code: Mapping[str, bytes]
    """The project by path, with the tests as they are judged."""
    failing: tuple[FailingTest, ...]


@dataclass(frozen=True)
class Step:
    """What came of an iteration."""

    observation: Observation
    reward: float
    """The share of the gap that it closes, minus the share that it opens; -1 to 1."""
    done: bool
    gained: int = 0
    lost: int = 0
    passed: int = 0
    """Tests of the target that pass now."""
    collapsed: str | None = None
    """Why the code could not be tested; such an iteration is undone."""


@dataclass
class Evolution:
    """The evolution of one task. It has no state outside of itself: as many as the
    machine can bear run side by side, and the same changes give the same rewards."""

    folder: Path | str
    iterations: int = 20
    _task: dict[str, Any] = field(init=False, repr=False)
    _start: dict[str, tuple[bytes, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        try:
            self._task = json.loads((self.folder / "tests" / "task.json").read_text())
            dockerfile = (self.folder / "tests" / "Dockerfile").read_text()
            self._start = _untar((self.folder / "environment" / "code.tar").read_bytes())
        except OSError as error:
            raise SweCiError(
                f"{self.folder} is no task for Harbor: {error}; "
                "`swe-ci dataset export SPLIT FOLDER --as harbor` writes FOLDER/evolution/TASK"
            ) from error
        self.image = dockerfile.split()[1]
        self.task_id: str = self._task["task_id"]
        self.gap: int = self._task["target_passed"] - self._task["base_passed"]
        self.reset()

    def reset(self) -> Observation:
        """Begins anew from the base."""
        base = set(self._task["base_passing"])
        self._code = dict(self._start)
        self._passing = {test for test in self._task["tests"] if test in base}
        self._done = False
        content = _untar((Path(self.folder) / "environment" / "non-passed.tar").read_bytes())
        failing = []
        for line in content["summary.jsonl"][0].decode().splitlines():
            found = json.loads(line)
            detail = json.loads(content[found["detail"]][0])
            failing.append(
                FailingTest(found["node_id"], found["outcome"], detail["message"][-_MOST_MESSAGE:])
            )
        self._observation = Observation(1, self._texts(), tuple(failing))
        return self._observation

    def step(self, changes: Mapping[str, str | None]) -> Step:
        """Does an iteration: writes these files (`None` removes one), and tests. Files
        below `tests/` stay as they are."""
        if self._done:
            raise SweCiError("the evolution is over; reset() begins another")
        code = dict(self._code)
        for path, text in changes.items():
            parts = PurePosixPath(path).parts
            if not parts or path.startswith("/") or ".." in parts:
                raise SweCiError(f"{path!r} is no path of a file in the project")
            if parts[0] == "tests":
                continue
            if text is None:
                code.pop(path, None)
            elif len(content := text.encode()) > _MOST_FILE:
                raise SweCiError(f"{path} has more than {_MOST_FILE} bytes")
            else:
                code[path] = (content, code.get(path, (b"", 0o644))[1])
        report = self._grade(code)
        found = report["report"] or {"tests": []}
        outcomes = {test["nodeid"]: test for test in found["tests"]}
        passing = {
            test
            for test in self._task["tests"]
            if outcomes.get(test, {}).get("outcome") == "passed"
        }
        gained, lost = len(passing - self._passing), len(self._passing - passing)
        reward = max(-1.0, (gained - lost) / self.gap) if self.gap else 0.0
        failing = self._observation.failing
        if report["collapse"] is None:
            self._code, self._passing = code, passing
            failing = tuple(
                FailingTest(test, *_failure(outcomes.get(test)))
                for test in self._task["tests"]
                if test not in passing
            )
        iteration = self._observation.iteration
        self._done = not failing or iteration >= self.iterations
        self._observation = Observation(iteration + 1, self._texts(), failing)
        return Step(
            self._observation, reward, self._done, gained, lost, len(passing), report["collapse"]
        )

    def _texts(self) -> dict[str, bytes]:
        return {path: content for path, (content, _) in sorted(self._code.items())}

    def _grade(self, code: Mapping[str, tuple[bytes, int]]) -> dict[str, Any]:
        """Tests some code in a fresh container, by the verifier of the task."""
        name = f"swe-ci-evolution-{uuid.uuid4().hex}"
        create = ["create", "--name", name, "--network", "none", "--memory", "4g", "--cpus", "2"]
        create += ["--pids-limit", "1024", self.image, "sh", "/tests/test.sh"]
        try:
            _docker(*create)
            _docker("cp", "-", f"{name}:/", stdin=self._container(code))
            said = _docker("start", "--attach", name)
            try:
                logs = _docker("cp", f"{name}:/logs/verifier/swe-ci.json", "-")
            except SweCiError as error:
                why = said.decode(errors="replace")[-_MOST_MESSAGE:]
                raise SweCiError(f"the verifier of {self.task_id} gave no result: {why}") from error
        finally:
            subprocess.run(["docker", "rm", "--force", name], capture_output=True, check=False)
        with tarfile.open(fileobj=io.BytesIO(logs)) as archive:
            file = archive.extractfile("swe-ci.json")
            assert file is not None
            report: dict[str, Any] = json.load(file)
        return report

    def _container(self, code: Mapping[str, tuple[bytes, int]]) -> bytes:
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for folder in ("logs", "logs/verifier", "app", "app/code", "tests"):
                entry = tarfile.TarInfo(folder)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            files = [(f"app/code/{path}", *entry) for path, entry in sorted(code.items())]
            for file in sorted((Path(self.folder) / "tests").iterdir()):
                files.append((f"tests/{file.name}", file.read_bytes(), 0o644))
            for path, content, mode in files:
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode = len(content), mode
                tar.addfile(entry, io.BytesIO(content))
        return archive.getvalue()


def _failure(test: Mapping[str, Any] | None) -> tuple[str, str]:
    """Outcome and message of a test of a report."""
    if test is None:
        return "missing", ""
    stages = (test.get(stage) or {} for stage in ("setup", "call", "teardown"))
    messages = (str(stage.get("longrepr") or "") for stage in stages)
    return test["outcome"], next(filter(None, messages), "")[-_MOST_MESSAGE:]


def _untar(content: bytes) -> dict[str, tuple[bytes, int]]:
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.isreg() else None
            if file is not None:
                files[entry.name.removeprefix("./")] = (file.read(), entry.mode)
    return files


def _docker(*arguments: str, stdin: bytes | None = None) -> bytes:
    try:
        done = subprocess.run(
            ["docker", *arguments], input=stdin, capture_output=True, check=False, timeout=4_000
        )
    except FileNotFoundError as error:
        raise SweCiError("`docker` is not installed, and the tests run in containers") from error
    if done.returncode != 0 and arguments[0] != "start":
        raise SweCiError(f"docker {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout + done.stderr if arguments[0] == "start" else done.stdout
