"""Against a real server, which `scripts/test-inspect.sh` starts: the logs that it
exported, and a run that Inspect starts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval
from inspect_ai.log import (
    EvalLog,
    read_eval_log,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from real_server import LOGS, SERVER, api, exported, needs_server

from swe_ci_inspect import swe_ci

NAMES_IN_API = {
    "evoscore": "evoscore",
    "solved": "solved_rate",
    "zero_regression": "zero_regression_rate",
    "zrr": "zrr",
    "iterations": "average_turns",
}


pytestmark = needs_server


def means(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def assert_like_the_api(log: EvalLog, run_id: str) -> None:
    """The numbers of a run and of each evolution."""
    scores = api(f"runs/{run_id}/scores")
    for name, in_api in NAMES_IN_API.items():
        assert means(log)[name] == pytest.approx(scores[in_api], abs=1e-12), name
    found = {(one.id, one.epoch): one for one in log.samples or []}
    assert len(found) == len(scores["tasks"]) > 0
    for one in scores["tasks"]:
        sample = found[one["task_id"], one["sample"]]
        assert sample.scores is not None
        value = sample.scores["swe_ci"].value
        assert isinstance(value, dict)
        assert value.pop("iterations") == one["turns"]
        assert value == {name: one[name] for name in value}
        assert set(value) == set(one) - {"task_id", "sample", "turns"}


def test_the_export_is_a_log() -> None:
    _, log = exported()
    assert (log.version, log.status) == (2, "success")
    assert log.samples and log.eval.dataset.samples == len(log.samples)
    assert_like_the_api(log, log.eval.run_id)
    detail = api(f"runs/{log.eval.run_id}")
    assert log.eval.model == detail["config"]["model"]
    for evolution in detail["evolution_list"]:
        sample = next(one for one in log.samples if one.id == evolution["task_id"])
        assert sample.metadata["ending"] == evolution["ending"]
        assert sample.metadata["iterations"] == len(evolution["iterations"])
        assert len(sample.metadata["base_commit"]) == 40
        assert [event.event for event in sample.events].count("span_begin") == [
            event.event for event in sample.events
        ].count("span_end")
        assert sample.events[-1].event == "score"


def test_conversations_are_complete() -> None:
    _, log = exported("builtin")
    assert_like_the_api(log, log.eval.run_id)
    (sample,) = log.samples or []
    calls = [event for event in sample.events if event.event == "model"]
    assert [(call.role, call.output.stop_reason) for call in calls] == [
        ("architect", "tool_calls"),
        ("architect", "stop"),
        ("programmer", "tool_calls"),
        ("programmer", "stop"),
    ]
    for call in calls:
        assert call.model == "stand-in-2026"
        assert {tool.name for tool in call.tools} >= {"bash", "write", "edit"}
    # Inspect puts the pool of messages back into the requests.
    assert [[message.role for message in call.input] for call in calls] == [
        ["system", "user"],
        ["system", "user", "assistant", "tool"],
    ] * 2
    (asked,) = calls[0].output.message.tool_calls or []
    assert asked.function == "bash" and "requirement.xml" in asked.arguments["command"]
    assert calls[1].input[-1] == sample.messages[3]
    conversation = ["system", "user", "assistant", "tool", "assistant"]
    assert [message.role for message in sample.messages] == conversation * 2
    assert sample.messages[-1].metadata == {"iteration": 1, "role": "programmer", "attempt": 1}
    usage = sample.model_usage["stand-in"]
    assert (usage.input_tokens, usage.input_tokens_cache_read) == (240, 160)
    assert (usage.output_tokens, usage.total_tokens) == (40, 440)
    assert sample.role_usage["architect"].total_tokens == 220
    spent = api(f"runs/{log.eval.run_id}")["spent"]["usage"]
    assert spent["input_tokens"] + spent["output_tokens"] == 440
    assert log.stats.model_usage == sample.model_usage


@pytest.mark.parametrize("solver", ["replay", "builtin"])
def test_summaries_are_those_of_the_samples(solver: str) -> None:
    file, log = exported(solver)
    summaries = read_eval_log_sample_summaries(str(file))
    assert [summary.id for summary in summaries] == [one.id for one in log.samples or []]
    for summary, sample in zip(summaries, log.samples or [], strict=True):
        own = sample.summary()
        assert summary.scores == own.scores
        assert summary.completed_at == own.completed_at
        assert summary.message_count == own.message_count


@pytest.mark.parametrize("solver", ["replay", "builtin"])
def test_inspect_writes_and_reads_it_again(tmp_path: Path, solver: str) -> None:
    _, log = exported(solver)
    copy = tmp_path / "copy.eval"
    write_eval_log(log, str(copy))
    # Inspect moves long texts into attachments when it writes.
    again = read_eval_log(str(copy), resolve_attachments=True)
    assert means(again) == means(log)
    for before, after in zip(log.samples or [], again.samples or [], strict=True):
        assert after.model_dump(exclude={"attachments"}) == before.model_dump(
            exclude={"attachments"}
        )


def test_its_commands_know_it(tmp_path: Path) -> None:
    file, log = exported()
    program = [sys.executable, "-m", "inspect_ai"]

    def run(*arguments: str) -> str:
        return subprocess.run(
            [*program, *arguments], check=True, capture_output=True, text=True, timeout=300
        ).stdout

    listed = json.loads(run("log", "list", "--log-dir", LOGS, "--json"))
    assert log.eval.task_id in [one["task_id"] for one in listed]
    assert json.loads(run("log", "dump", "--header-only", str(file)))["eval"]["task"] == "swe_ci"
    site = tmp_path / "site"
    run("view", "bundle", "--log-dir", LOGS, "--output-dir", str(site))
    assert (site / "index.html").exists()
    assert (site / "logs" / file.name).exists()


def test_inspect_starts_a_run(tmp_path: Path) -> None:
    (first, *_) = api("tasks?split=demo&state=ready")["items"]
    (log,) = eval(
        swe_ci(server=SERVER, tasks=[first["task_id"]], config="human", poll_seconds=1),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    (sample,) = log.samples or []
    assert sample.error is None, sample.error
    run_id = sample.store["swe_ci"]["run_id"]
    run = api(f"runs/{run_id}")
    assert run["config"]["tasks"] == [first["task_id"]]
    assert run["visibility"] == "private"
    assert_like_the_api(log, run_id)


def test_inspect_follows_a_run(tmp_path: Path) -> None:
    _, known = exported()
    (log,) = eval(
        swe_ci(server=SERVER, run=known.eval.run_id),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    assert_like_the_api(log, known.eval.run_id)
    # What swe-ci exports and what Inspect measures say the same.
    assert means(log) == pytest.approx(means(known))
