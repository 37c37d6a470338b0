"""Runs as logs: a server's answers in, what Inspect reads out."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool

from swe_ci_inspect import __main__ as program
from swe_ci_inspect.logs import RunOnServer, write
from swe_ci_inspect.refusal import WrongParameter
from swe_ci_inspect.server import Json, Server, ServerError

LATE = "2025-11-20T00:00:{:02}Z"

SIDE = {
    "agent": {"name": "opencode", "version": "1", "model_name": "m-1"},
    "steps": [
        {"source": "user", "message": "A title?", "timestamp": LATE.format(6)},
        {
            "source": "agent",
            "message": "Looking",
            "timestamp": LATE.format(7),
            "extra": {"error": "refused"},
        },
    ],
}

TRAJECTORY = {
    "agent": {
        "name": "opencode",
        "version": "1",
        "model_name": "m-1",
        "tool_definitions": [
            {"type": "function", "function": {"name": "bash", "description": "a long text"}},
            {"name": "read"},
        ],
    },
    "steps": [
        {"source": "system", "message": "You are careful.", "timestamp": LATE.format(2)},
        {"source": "user", "message": "Look.", "timestamp": LATE.format(2)},
        {
            "source": "agent",
            "message": "Let me look.",
            "reasoning_content": "Where?",
            "model_name": "m-1-2026",
            "timestamp": LATE.format(5),
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}
            ],
            "observation": {
                "results": [
                    {
                        "source_call_id": "c1",
                        "content": "no such folder",
                        "extra": {"is_error": True},
                    },
                    {"content": "late", "extra": {"call": "c0", "name": "read"}},
                ]
            },
            "metrics": {
                "prompt_tokens": 100,
                "completion_tokens": 7,
                "cached_tokens": 60,
                "cost_usd": 0.5,
                "extra": {"reasoning_tokens": 3},
            },
            "extra": {"finish_reason": "stop", "retries": 2, "duration_ms": 2_500},
        },
        {"source": "agent", "message": "An example.", "is_copied_context": True},
        {
            "source": "agent",
            "message": "Done.",
            "timestamp": LATE.format(9),
            "extra": {"finish_reason": "MAX_TOKENS", "complete": False},
        },
    ],
    "subagent_trajectories": [SIDE],
}


def step(role: str, attempt: int, **more: Any) -> Json:
    nothing: Json = {"iteration": 1, "usage": None, "traffic": None, "seconds": 9.0}
    return {**nothing, "role": role, "attempt": attempt, "finished_at": LATE.format(10), **more}


def evolution(task: str, **more: Any) -> Json:
    return {
        "evolution_id": f"e-{task}",
        "task_id": task,
        "sample": 1,
        "progress": "finished",
        "ending": "solved",
        "reason": None,
        "suite": {"base_in_target": 2, "target": 4},
        "max_iterations": 20,
        "started_at": LATE.format(1),
        "finished_at": LATE.format(10),
        "iterations": [{"iteration": 1, "verdict": "scored", "in_target": 4, "lost": 0}],
        **more,
    }


class World(Server):
    """A server with one run, by its answers."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1")
        used = {
            "input_tokens": 100,
            "output_tokens": 7,
            "cached_tokens": 60,
            "reasoning_tokens": 3,
        }
        priced = {"usage": used, "traffic": {"waiting_ms": 1_000, "micro_usd": 500_000}}
        numbers = {"regressions": 0, "zero_regression": True, "solved": True, "zrr": True}
        self.answers: dict[str, Any] = {
            "runs/r-1": {
                "run_id": "r-1",
                "created_at": "2025-11-20T00:00:00.5Z",
                "started_at": LATE.format(1),
                "finished_at": LATE.format(10),
                "progress": "finished",
                "config": {
                    "model": "Juniper",
                    "provider": "acme",
                    "harness": {"name": "opencode"},
                    "endpoint": {"model": "juniper-1"},
                    "split": "demo",
                    "mode": "tdd",
                    "samples": 1,
                    "plan": {"max_iterations": 20},
                },
                "evolution_list": [
                    evolution("alpha-1"),
                    evolution("beta-2", ending="blocked", reason="the disk is full", iterations=[]),
                ],
            },
            "runs/r-1/scores": {
                "max_iterations": 20,
                "evoscore": 0.5,
                "solved_rate": 1.0,
                "zero_regression_rate": 1.0,
                "zrr": 1.0,
                "average_turns": 1.0,
                "intervals": {"evoscore": {"low": 0.25, "high": 0.75}},
                "tasks": [
                    {
                        "task_id": "alpha-1",
                        "sample": 1,
                        "evoscore": 0.5,
                        "gap_closed": 1.0,
                        "turns": 1,
                        **numbers,
                    }
                ],
            },
            "runs/r-1/card": {
                "metric_version": 4,
                "platform_version": "1.0.0",
                "tasks": [
                    {"task_id": "alpha-1", "base_sha": "a0", "target_sha": "a1"},
                    {"task_id": "beta-2", "base_sha": "b0", "target_sha": "b1"},
                ],
            },
            "tasks": {"items": [{"task_id": "alpha-1", "repo": "alpha"}], "next": None},
            "evolutions/e-alpha-1/steps": [
                step("architect", 2, recording="jsonl", **priced),
                step("programmer", 1, usage=used),
                step("test", 1),
            ],
            "evolutions/e-beta-2/steps": [],
            "evolutions/e-alpha-1/iterations/1/architect/trajectory": TRAJECTORY,
        }

    def get(self, path: str, **query: str) -> Any:
        if path not in self.answers:
            raise ServerError(f"GET {path}: 404")
        return self.answers[path]


def log(world: World) -> EvalLog:
    return RunOnServer(world, "r-1", 1.0, "paper").log(print)


def alpha(world: World) -> EvalSample:
    sample, _ = log(world).samples or []
    return sample


def test_conversations_become_events() -> None:
    sample = alpha(World())
    calls = [event for event in sample.events if event.event == "model"]
    # System, user, answer, its two results, an example; answer; the side conversation.
    assert [len(call.input) for call in calls] == [2, 6, 1]
    first, cut_off, refused = calls
    assert (first.role, first.model, first.retries, first.error) == (
        "architect",
        "m-1-2026",
        2,
        None,
    )
    assert [tool.name for tool in first.tools] == ["bash", "read"]
    assert (first.timestamp.second, first.timestamp.microsecond) == (2, 500_000)
    assert (first.working_start, first.working_time) == (1.5, 2.5)
    assert first.output.stop_reason == "tool_calls"
    used = first.output.usage
    assert used is not None
    assert (used.input_tokens, used.input_tokens_cache_read, used.total_cost) == (40, 60, 0.5)
    assert (cut_off.error, cut_off.output.stop_reason) == ("the answer is incomplete", "max_tokens")
    assert (refused.error, refused.timestamp.second) == ("refused", 6)
    (run,) = [event for event in sample.events if event.event == "tool"]
    assert (run.id, run.function, run.result) == ("c1", "bash", "no such folder")
    assert run.error is not None and run.message_id == sample.messages[3].id


def test_messages_are_the_main_conversations() -> None:
    messages = alpha(World()).messages
    roles = ["system", "user", "assistant", "tool", "tool", "assistant", "assistant"]
    assert [message.role for message in messages] == roles
    assert messages[0].metadata == {"iteration": 1, "role": "architect", "attempt": 2}
    late = messages[4]
    assert isinstance(late, ChatMessageTool)
    assert (late.tool_call_id, late.function) == ("c0", "read")
    copied, last = messages[5:]
    assert isinstance(copied, ChatMessageAssistant) and copied.source is None
    assert isinstance(last, ChatMessageAssistant) and last.source == "generate"


def test_results_of_programs_that_name_no_calls_are_in_order() -> None:
    world = World()
    turn = {
        "source": "agent",
        "message": [{"text": "a"}, {"source": "p.png"}],
        "tool_calls": [{"tool_call_id": "x", "function_name": "f"}],
        "observation": {"results": [{"content": None}]},
    }
    path = "evolutions/e-alpha-1/iterations/1/architect/trajectory"
    world.answers[path] = {"agent": {"name": "other"}, "steps": [turn]}
    asked, result = alpha(world).messages
    assert asked.text == "a\n[p.png]"
    assert isinstance(result, ChatMessageTool) and result.tool_call_id == "x"


def test_spans_nest_and_ids_are_unique() -> None:
    sample = alpha(World())
    open_spans: list[str] = []
    shape = []
    for event in sample.events:
        if event.event == "span_begin":
            assert event.parent_id == (open_spans[-1] if open_spans else None)
            shape.append("  " * len(open_spans) + event.name)
            open_spans.append(event.id)
        elif event.event == "span_end":
            assert open_spans.pop() == event.id
        elif event.event != "score":
            assert event.span_id == open_spans[-1]
    agents = ["  architect, attempt 2", "    conversation 2", "  programmer", "  test"]
    assert shape == ["iteration 1", *agents] and not open_spans
    ids = [event.uuid for event in sample.events] + [message.id for message in sample.messages]
    assert len(set(ids)) == len(ids)


def test_scores_tokens_and_endings() -> None:
    found = log(World())
    one, blocked = found.samples or []
    assert one.scores is not None and one.scores["swe_ci"].value["evoscore"] == 0.5  # type: ignore[index,call-overload]
    assert (
        one.input
        == "Maintain alpha from commit a0 to a1: 2 of the target's 4 tests do not pass yet."
    )
    assert one.working_time == 26.0
    assert blocked.scores is None and blocked.error is not None
    assert blocked.error.message == "blocked: the disk is full"
    used = found.stats.model_usage["juniper-1"]
    # Of one part no cost is known.
    assert (used.input_tokens, used.total_tokens, used.total_cost) == (80, 214, None)
    assert found.stats.role_usage["architect"].total_cost == 0.5
    assert found.results is not None
    assert (found.results.total_samples, found.results.completed_samples) == (2, 1)
    evoscore, *_ = found.results.scores
    assert evoscore.metrics["mean"].metadata == {"low_95": 0.25, "high_95": 0.75}


def test_a_recording_that_is_gone_is_a_note(tmp_path: Path) -> None:
    world, notes = World(), list[str]()
    del world.answers["evolutions/e-alpha-1/iterations/1/architect/trajectory"]
    path = write(RunOnServer(world, "r-1", 1.0, "paper"), tmp_path, False, notes.append)
    begin = "alpha-1, sample 1, iteration 1, architect, attempt 2: the recording cannot be read"
    assert len(notes) == 1 and notes[0].startswith(begin)
    sample, _ = read_eval_log(str(path)).samples or []
    assert not sample.messages


def test_files_are_kept_unless_they_may_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "Server", lambda address: World())
    name = "2025-11-20T00-00-00+00-00_swe-ci_r1.eval"

    def export(*options: str) -> str:
        arguments = ["r-1", "r-1", "--output", str(tmp_path / "logs"), *options]
        done = CliRunner().invoke(program.main, arguments, catch_exceptions=False)
        assert done.stdout.splitlines() == [str(tmp_path / "logs" / name)], done.output
        return done.stderr

    assert export() == ""
    assert [path.name for path in (tmp_path / "logs").iterdir()] == [name]
    (tmp_path / "logs" / name).write_text("mine")
    assert "is there already" in export()
    assert (tmp_path / "logs" / name).read_text() == "mine"
    assert export("--replace") == ""
    assert read_eval_log(str(tmp_path / "logs" / name)).eval.run_id == "r-1"


def test_runs_without_a_log() -> None:
    world = World()
    with pytest.raises(ServerError):
        RunOnServer(world, "nobody", 1.0, "paper")
    world.answers["runs/r-1"]["evolution_list"][0]["suite"]["counts_only"] = True
    with pytest.raises(WrongParameter, match="choose `reference`"):
        RunOnServer(world, "r-1", 1.0, "paper")
    RunOnServer(world, "r-1", 1.0, "reference")
    world.answers["runs/r-1"]["progress"] = "running"
    with pytest.raises(WrongParameter, match="is running; export it when it is over"):
        RunOnServer(world, "r-1", 1.0, "reference")
