"""The server that scripts/test-client.sh starts, and a stand-in for the hub."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stand_in_hub
import swe_ci

SPLIT = "demo"
COUNTS = "counts"
"""The split of `bare_address`."""


@pytest.fixture(scope="session")
def address() -> str:
    return os.environ["SWE_CI_TEST_SERVER"]


@pytest.fixture(scope="session")
def client(address: str) -> swe_ci.Client:
    return swe_ci.Client(address)


@pytest.fixture(scope="session")
def bare_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Another server, without code style: its one run is known by counts alone."""
    folder = tmp_path_factory.mktemp("bare")
    turn = folder / "run" / "lib-1#1" / "turn_1"
    turn.mkdir(parents=True)
    turn.with_name("meta.json").write_text(json.dumps({"base_passed": 2, "target_passed": 4}))
    (turn / "conclusion.json").write_text(
        json.dumps({"num_passed": 3, "is_collapsed": False, "is_solved": False})
    )
    metadata = folder / f"{COUNTS}.csv"
    metadata.write_text(f"task_id,current_sha,target_sha,test_gap\nlib-1,{'a' * 40},{'b' * 40},2\n")
    program, data = os.environ["SWE_CI_TEST_PROGRAM"], ["--data", str(folder / "data")]
    results = ["--from", "otter", str(folder / "run"), "--metadata", str(metadata)]
    subprocess.run([program, "import-results", *results, "--model", "counted", *data], check=True)
    log = folder / "log"
    with log.open("w") as stderr:
        server = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--workers", "0", *data],
            env={**os.environ, "SWE_CI_CODE_STYLE": "no", "SWE_CI_AUDIT": "no"},
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:
        for _ in range(120):
            if found := re.search(r"serving at (http://\S+)", log.read_text()):
                break
            time.sleep(0.5)
        assert found, log.read_text()
        yield found[1]
    finally:
        server.terminate()
        server.wait()


class HubAtHand:
    """The stand-in, and programs that use it as their hub."""

    def __init__(self, hub: stand_in_hub.Hub, address: str, home: Path) -> None:
        self.hub, self.address, self.home = hub, address, home

    def run(
        self, *command: str, token: str | None = stand_in_hub.WRITER
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HF_ENDPOINT": self.address, "HF_HOME": str(self.home)}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        # The stand-in speaks Git LFS alone.
        environment["HF_HUB_DISABLE_XET"] = "1"
        environment.pop("HF_TOKEN", None)
        if token is not None:
            environment["HF_TOKEN"] = token
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)

    def python(self, code: str, *arguments: str) -> str:
        done = self.run(sys.executable, "-c", code, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def publish(
        self, server: str, *more: str, token: str | None = stand_in_hub.WRITER
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "swe_ci.leaderboard", "--server", server]
        return self.run(*command, *more, token=token)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubAtHand]:
    hub, server, address = stand_in_hub.start()
    yield HubAtHand(hub, address, tmp_path / "home")
    server.shutdown()


Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def swe_ci_program(hub: HubAtHand) -> Program:
    """`swe-ci` on the data folder of the server, or on another one."""
    program = os.environ["SWE_CI_TEST_PROGRAM"]

    def run(
        *options: str, data: str | Path | None = None, token: str | None = stand_in_hub.WRITER
    ) -> subprocess.CompletedProcess[str]:
        folder = str(data or os.environ["SWE_CI_TEST_DATA"])
        return hub.run(program, *options, "--data", folder, token=token)

    return run
