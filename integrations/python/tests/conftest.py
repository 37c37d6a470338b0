"""The server that scripts/test-client.sh starts, and a stand-in for the hub."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stand_in_hub
import swe_ci

SPLIT = "demo"


@pytest.fixture(scope="session")
def address() -> str:
    return os.environ["SWE_CI_TEST_SERVER"]


@pytest.fixture(scope="session")
def client(address: str) -> swe_ci.Client:
    return swe_ci.Client(address)


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

    def python(self, code: str) -> str:
        done = self.run(sys.executable, "-c", code)
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
