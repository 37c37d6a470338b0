"""Inspect Scout on the logs that a real server exported: its list of transcripts,
its filters, and the results of `scout scan`."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from inspect_ai.log import EvalSample
from inspect_scout import (
    ScanResultsDF,
    TranscriptInfo,
    scan_list,
    scan_results_df,
    transcripts_from,
)
from real_server import LOGS, api, exported, needs_server
from scout_scanners import WANTED

pytestmark = needs_server

SCANNERS = Path(__file__).with_name("scout_scanners.py")
SOLVERS = ["replay", "builtin"]


class Evolution(NamedTuple):
    """As the API tells it."""

    run: dict[str, Any]
    detail: dict[str, Any]
    score: dict[str, Any]


def evolutions() -> dict[str, Evolution]:
    """All that the logs hold, by id."""
    found = {}
    for solver in SOLVERS:
        _, log = exported(solver)
        run = api(f"runs/{log.eval.run_id}")
        scores = api(f"runs/{log.eval.run_id}/scores")["tasks"]
        by_sample = {(score["task_id"], score["sample"]): score for score in scores}
        for detail in run["evolution_list"]:
            score = by_sample[detail["task_id"], detail["sample"]]
            found[detail["evolution_id"]] = Evolution(run, detail, score)
    return found


def transcripts(filter: str | None = None) -> dict[str, TranscriptInfo]:
    """What Scout reads, by id."""

    async def read() -> list[TranscriptInfo]:
        found = transcripts_from(LOGS)
        async with (found.where(filter) if filter else found).reader() as reader:
            return [one async for one in reader.index()]

    return {one.transcript_id: one for one in asyncio.run(read())}


def conversation() -> EvalSample:
    """The one evolution whose agents called a model."""
    _, log = exported("builtin")
    (sample,) = log.samples or []
    return sample


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> ScanResultsDF:
    scans = str(tmp_path_factory.mktemp("scans"))
    program = str(Path(sys.executable).with_name("scout"))
    given = ["-T", LOGS, "--scans", scans, "--max-processes", "1", "--display", "plain"]
    subprocess.run([program, "scan", str(SCANNERS), *given], check=True, timeout=300)
    (status,) = scan_list(scans)
    assert (status.complete, status.errors) == (True, [])
    return scan_results_df(status.location)


def values(results: ScanResultsDF, scanner: str) -> dict[str, Any]:
    """What it says, by the id of the transcript, message or event."""
    rows = results.scanners[scanner]
    assert rows["scan_error"].isna().all()
    ids = [one for row in rows["input_ids"] for one in json.loads(row)]
    assert len(set(ids)) == len(ids)
    return dict(zip(ids, rows["value"], strict=True))


def test_transcripts_are_evolutions() -> None:
    found, known = transcripts(), evolutions()
    assert set(found) == set(known)
    files = {log.eval.run_id: (file, log) for file, log in map(exported, SOLVERS)}
    for name, (run, detail, score) in known.items():
        one = found[name]
        file, log = files[run["run_id"]]
        assert (one.source_type, one.source_id) == ("eval_log", log.eval.eval_id)
        assert one.source_uri == str(file)
        assert (one.task_set, one.task_id) == ("swe_ci", detail["task_id"])
        assert one.task_repeat == detail["sample"]
        assert one.agent == run["config"]["harness"]["name"]
        assert one.model == run["config"]["model"]
        assert isinstance(one.score, dict)
        assert one.score.pop("iterations") == score["turns"]
        assert one.score == {field: score[field] for field in one.score}
        assert set(one.score) == set(score) - {"task_id", "sample", "turns"}
        assert (one.score_explanation or "").startswith(f"{detail['ending']}: ")
        assert (one.error, one.limit) == ("", "")
        assert one.success == score["solved"]
        assert one.agent_args == {"plan": run["config"]["plan"]}
        assert one.metadata["task_args"]["split"] == run["config"]["split"]
        assert one.metadata["sample_metadata"]["ending"] == detail["ending"]
        (sample,) = [sample for sample in log.samples or [] if sample.uuid == name]
        assert one.message_count == len(sample.messages)
        assert one.total_time == sample.total_time


def test_tokens_are_those_of_the_run() -> None:
    sample = conversation()
    spent = evolutions()[str(sample.uuid)].run["spent"]["usage"]
    tokens = {name: one.total_tokens for name, one in transcripts().items()}
    assert tokens.pop(str(sample.uuid)) == spent["input_tokens"] + spent["output_tokens"] == 440
    assert set(tokens.values()) == {0}


def test_filters_reach_scores_and_metadata() -> None:
    known = evolutions()
    assert set(transcripts("score.evoscore > 0.95")) == {
        name for name, one in known.items() if one.score["evoscore"] > 0.95
    }
    assert set(transcripts("sample_metadata.ending = 'iterations_spent'")) == {
        name for name, one in known.items() if one.detail["ending"] == "iterations_spent"
    }
    assert set(transcripts("agent = 'builtin'")) == {conversation().uuid}


def test_a_scanner_finds_what_was_said(results: ScanResultsDF) -> None:
    sample = conversation()
    # In the two calls, and neither in the prompts nor in the results of calls.
    said = {
        message.id: call.arguments["command"].lower().count(WANTED)
        for message in sample.messages
        if message.role == "assistant"
        for call in message.tool_calls or []
    }
    assert list(said.values()) == [3, 3]
    assert values(results, "found") == dict.fromkeys(evolutions(), 0) | {sample.uuid: 6}
    rows = results.scanners["found"]
    (row,) = rows[rows["transcript_id"] == sample.uuid].to_dict("records")
    assert [one["id"] for one in json.loads(row["message_references"])] == list(said)
    assert (row["transcript_task_id"], row["transcript_model"]) == (sample.id, "stand-in")


def test_a_scanner_sees_each_call(results: ScanResultsDF) -> None:
    messages = [message for message in conversation().messages if message.role == "assistant"]
    calls = dict(zip([message.id for message in messages], ["bash", "", "bash", ""], strict=True))
    assert values(results, "calls") == calls


def test_a_scanner_sees_each_answer(results: ScanResultsDF) -> None:
    answers = [event.uuid for event in conversation().events if event.event == "model"]
    expected = ["tool_calls", "stop"] * 2
    assert values(results, "answers") == dict(zip(answers, expected, strict=True))
    roles = results.scanners["answers"]["label"]
    assert list(roles) == ["architect", "architect", "programmer", "programmer"]


def test_a_scanner_sees_each_run_of_a_tool(results: ScanResultsDF) -> None:
    runs = [event for event in conversation().events if event.event == "tool"]
    told = {message.id: message.text for message in conversation().messages}
    assert len(runs) == 2
    assert values(results, "runs") == {run.uuid: told[run.message_id] for run in runs}


def test_scanners_see_iterations_and_steps(results: ScanResultsDF) -> None:
    iterations = {name: one.detail["iterations"] for name, one in evolutions().items()}
    assert values(results, "verdicts") == {
        name: " ".join(one["verdict"] for one in of) for name, of in iterations.items()
    }
    assert values(results, "steps") == {
        name: " ".join(["architect programmer test"] * len(of)) for name, of in iterations.items()
    }
