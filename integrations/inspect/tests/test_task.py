"""The task against a stand-in for the server."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from conftest import World
from inspect_ai import eval
from inspect_ai.log import EvalLog, EvalSample

from swe_ci_inspect import ServerError, swe_ci


def evaluate(
    tmp_path: Path, address: str, *, limit: int | None = None, epochs: int = 1, **given: Any
) -> EvalLog:
    given = {"server": address, "config": "human", "poll_seconds": 0.01, **given}
    if given.get("run"):
        given["config"] = None
    logs = eval(
        swe_ci(**given),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
        limit=limit,
        epochs=epochs,
    )
    return logs[0]


def sample(log: EvalLog, task: str, epoch: int = 1) -> EvalSample:
    return next(one for one in log.samples or [] if (one.id, one.epoch) == (task, epoch))


def means(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def test_one_run_for_all_samples(tmp_path: Path, address: str, world: World) -> None:
    log = evaluate(tmp_path, address)
    assert log.status == "success"
    (submitted,) = world.submitted
    assert submitted["visibility"] == "private"
    assert submitted["preflight"] is False
    assert submitted["config"]["samples"] == 1
    assert submitted["config"]["split"] == "demo"
    # Over the whole split, as the leaderboard ranks it.
    assert "tasks" not in submitted["config"]
    scores = sample(log, "alpha-1").scores
    assert scores is not None
    assert scores["swe_ci"].value == {
        "evoscore": 0.5,
        "gap_closed": 1.0,
        "regressions": 1,
        "zero_regression": False,
        "solved": True,
        "zrr": False,
        "iterations": 1,
    }
    assert scores["swe_ci"].metadata is not None
    assert scores["swe_ci"].metadata["run_id"] == "r1"
    assert means(log)["evoscore"] == pytest.approx((0.5 + 0.25) / 2)
    assert means(log)["zero_regression"] == 0.5
    assert means(log)["regressions"] == 0.5


def test_an_unscored_evolution_is_an_error(tmp_path: Path, address: str) -> None:
    log = evaluate(tmp_path, address)
    blocked = sample(log, "gamma-3")
    assert blocked.error is not None
    assert "blocked: the disk is full" in blocked.error.message
    assert not blocked.scores


def test_the_run_costs_what_inspect_evaluates(tmp_path: Path, address: str, world: World) -> None:
    evaluate(tmp_path, address, limit=1, epochs=2)
    (submitted,) = world.submitted
    assert submitted["config"]["tasks"] == ["alpha-1"]
    assert submitted["config"]["samples"] == 2


def test_epochs_are_samples(tmp_path: Path, address: str) -> None:
    log = evaluate(tmp_path, address, tasks=["beta-2"], epochs=3)
    found = {}
    for epoch in (1, 2, 3):
        one = sample(log, "beta-2", epoch)
        found[epoch] = one.scores["swe_ci"].value["evoscore"] if one.scores else None  # type: ignore[index, call-overload]
    assert found == {1: None, 2: 0.5, 3: 0.75}
    assert means(log)["evoscore"] == pytest.approx(0.625)


def test_an_earlier_run_is_followed(tmp_path: Path, address: str, world: World) -> None:
    log = evaluate(tmp_path, address, run="r1")
    assert world.submitted == []
    assert means(log)["solved"] == 1.0
    events = [event for event in sample(log, "alpha-1").events if event.event == "info"]
    assert {"run": f"{address}/runs/r1"} in [event.data for event in events]


def test_a_server_may_be_away_for_a_while(tmp_path: Path, address: str, world: World) -> None:
    world.away = 3
    log = evaluate(tmp_path, address, tasks="alpha-1")
    assert world.away == 0
    assert sample(log, "alpha-1").error is None


def test_but_not_for_long(
    tmp_path: Path, address: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swe_ci_inspect.evaluation.PATIENCE_SECONDS", 0.05)
    world.away = 1_000
    log = evaluate(tmp_path, address, tasks="alpha-1")
    error = sample(log, "alpha-1").error
    assert error is not None
    assert "503, the database does not answer" in error.message


def test_a_configuration_from_a_file(tmp_path: Path, address: str, world: World) -> None:
    file = tmp_path / "run.toml"
    file.write_text('model = "m"\nkind = "measured"\nsplit = "other"\nsamples = 9\n')
    evaluate(tmp_path, address, config=str(file), private=False)
    (submitted,) = world.submitted
    assert submitted["visibility"] == "public"
    assert submitted["preflight"] is True
    config = submitted["config"]
    assert (config["model"], config["split"], config["samples"]) == ("m", "demo", 1)


def test_the_servers_words_reach_the_log(tmp_path: Path, address: str, world: World) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"kind": "measured"}))
    log = evaluate(tmp_path, address, config=str(file))
    error = sample(log, "alpha-1").error
    assert error is not None
    assert "400, model: is missing" in error.message
    # The other samples do not try again.
    assert len(world.submitted) == 1


def test_the_token_comes_from_the_environment(
    tmp_path: Path, address: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWE_CI_TOKEN", "sweci_secret")
    evaluate(tmp_path, address)
    assert world.tokens == {"Bearer sweci_secret"}
    (log,) = tmp_path.glob("*.eval")
    with ZipFile(log) as archive:
        for name in archive.namelist():
            assert b"sweci_secret" not in archive.read(name), name


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give one of config"),
        ({"config": "human", "run": "r1"}, "give one of config"),
        ({"config": "nowhere.toml"}, "nowhere.toml cannot be read"),
        ({"config": "human", "tasks": "delta-4"}, "no task delta-4"),
    ],
)
def test_wrong_parameters(address: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        swe_ci(server=address, **given)


def test_a_split_without_ready_tasks(address: str, world: World) -> None:
    world.ready = []
    with pytest.raises(ValueError, match=r"no task of demo can run; .*/tasks\?split=demo says why"):
        swe_ci(server=address, config="human")


def test_no_run_starts_without_a_token(
    address: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWE_CI_TOKEN")
    with pytest.raises(Exception, match="set SWE_CI_TOKEN to an API token"):
        swe_ci(server=address, config="human")
    assert not world.tokens
    # Everyone may follow a public run.
    swe_ci(server=address, run="r1")
    assert world.tokens == {None}


@pytest.mark.parametrize("server", ["", "http://127.0.0.1:9"])
def test_refusals_come_without_a_traceback(server: str, address: str, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "inspect_ai", "eval", "swe_ci_inspect/swe_ci"]
    parameters = ["-T", f"server={server or address}", "-T", "config=human", "-T", "tasks=delta-4"]
    done = subprocess.run(
        [*program, "--model", "none", "--log-dir", str(tmp_path), *parameters],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert ("does not answer" if server else "has no task delta-4") in said
    assert "Traceback" not in said


def test_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWE_CI_TOKEN", "sweci_test")
    with pytest.raises(ServerError, match=r"http://127\.0\.0\.1:9 does not answer"):
        swe_ci(server="http://127.0.0.1:9", config="human")
