"""The server that `scripts/test-inspect.sh` starts, and the logs that it exported."""

import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

SERVER = os.environ.get("SWE_CI_TEST_SERVER", "")
LOGS = os.environ.get("SWE_CI_TEST_LOGS", "")

needs_server = pytest.mark.skipif(not SERVER, reason="scripts/test-inspect.sh starts the server")


def api(path: str) -> Any:
    token = os.environ["SWE_CI_TOKEN"]
    answer = httpx.get(f"{SERVER}/api/v1/{path}", headers={"authorization": f"Bearer {token}"})
    return answer.raise_for_status().json()


def exported(solver: str = "replay") -> tuple[Path, EvalLog]:
    """The log of the human baseline, or of the run whose agents called a model."""
    for found in list_eval_logs(LOGS):
        log = read_eval_log(found)
        if log.eval.solver == solver:
            return Path(found.name.removeprefix("file://")), log
    raise AssertionError(f"there is no log of {solver}")
