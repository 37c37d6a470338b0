"""A stand-in for a swe-ci server: it answers as the API does, and a run is over
after it was asked for twice."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

TASKS = ["alpha-1", "beta-2", "gamma-3"]
"""All of the split; the last one is always blocked."""


def task(name: str) -> dict[str, Any]:
    return {
        "task_id": name,
        "repo": name.split("-")[0],
        "base_sha": "a" * 40,
        "target_sha": "b" * 40,
        "gap": 2,
        "target_passed": 4,
    }


UNAVAILABLE = {"detail": "the database does not answer"}


class World:
    """What the stand-in was asked, and its one run."""

    def __init__(self) -> None:
        self.ready = TASKS
        self.submitted: list[dict[str, Any]] = []
        self.tokens: set[str | None] = set()
        self.looks = 0
        self.away = 0
        """Times that it does not answer after it was asked for the run once."""

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        if path == "/api/v1/tasks":
            after = int(query.get("after", ["0"])[0])
            following = str(after + 2) if after + 2 < len(self.ready) else None
            page = self.ready[after : after + 2]
            return {"items": [task(name) for name in page], "next": following}
        if path == "/api/v1/runs" and method == "POST":
            self.submitted.append(body)
            return {"run_id": "r1"}
        if path == "/api/v1/runs/r1" and self.looks == 1 and self.away > 0:
            self.away -= 1
            return UNAVAILABLE
        if path == "/api/v1/runs/r1":
            self.looks += 1
            return self.run()
        if path == "/api/v1/runs/r1/scores":
            return {"tasks": self.scores()}
        return None

    def _config(self) -> dict[str, Any]:
        return self.submitted[-1]["config"] if self.submitted else {}

    def _tasks(self) -> list[str]:
        return self._config().get("tasks", TASKS)

    def _samples(self) -> range:
        return range(1, self._config().get("samples", 1) + 1)

    def ending(self, name: str, sample: int) -> str | None:
        if self.looks < 2:
            return None
        # The first sample of beta-2 is blocked when there are more of it.
        if name == "gamma-3" or (name == "beta-2" and sample == 1 and len(self._samples()) > 1):
            return "blocked"
        return "solved"

    def run(self) -> dict[str, Any]:
        over = self.looks >= 2
        evolutions = [
            {
                "evolution_id": f"e-{name}-{sample}",
                "task_id": name,
                "sample": sample,
                "ending": (ending := self.ending(name, sample)),
                "reason": "the disk is full" if ending == "blocked" else None,
                "started_at": None,
                "finished_at": None,
                "iterations": [{"iteration": 1, "verdict": "scored"}] if over else [],
            }
            for name in self._tasks()
            for sample in self._samples()
        ]
        progress = "finished" if over else "running"
        return {"run_id": "r1", "progress": progress, "evolution_list": evolutions}

    def scores(self) -> list[dict[str, Any]]:
        entries = []
        for name in self._tasks():
            for sample in self._samples():
                if self.ending(name, sample) != "solved":
                    continue
                entries.append(
                    {
                        "task_id": name,
                        "sample": sample,
                        "evoscore": 0.5 if name == "alpha-1" else sample / 4,
                        "gap_closed": 1.0,
                        "regressions": 1 if name == "alpha-1" else 0,
                        "zero_regression": name != "alpha-1",
                        "solved": True,
                        "zrr": name != "alpha-1",
                        "turns": 1,
                    }
                )
        return entries


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def address(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("SWE_CI_TOKEN", "sweci_test")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            world.tokens.add(self.headers.get("authorization"))
            url = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            answer = world.answer(self.command, url.path, parse_qs(url.query), body)
            status = 200
            if answer is None:
                status, answer = 404, {"detail": f"there is no `{url.path}`"}
            if answer is UNAVAILABLE:
                status = 503
            if isinstance(body, dict) and "model" not in body["config"]:
                status = 400
                answer = {"detail": "x", "problems": [{"field": "model", "problem": "is missing"}]}
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
