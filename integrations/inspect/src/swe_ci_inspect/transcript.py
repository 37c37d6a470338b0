"""The events and messages of a sample, in the order in which they happened.

iteration 1
  architect      the main conversation, an event for each answer and each call
    conversation 2, …   side requests, in the order of their beginning
  programmer
  test           the verdict
iteration 2 …
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from inspect_ai.event import (
    ErrorEvent,
    Event,
    InfoEvent,
    ModelEvent,
    ScoreEvent,
    SpanBeginEvent,
    SpanEndEvent,
    ToolEvent,
)
from inspect_ai.log import EvalError
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError, ToolInfo

from .server import Json

SCORER = "swe_ci"
SOURCE = "swe-ci"
"""The source of events that are no conversation."""

STOP_REASONS: dict[str, StopReason] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens"), "max_tokens"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal", "safety", "recitation"), "content_filter"),
}
"""From the words of the providers' protocols."""


@dataclass
class RecordedStep:
    """One attempt at a step, as the API shows it."""

    view: Json
    trajectory: Json | None
    """Its conversations in ATIF; absent if it called no model."""

    @property
    def finished(self) -> datetime:
        return time(self.view["finished_at"])

    @property
    def started(self) -> datetime:
        return self.finished - timedelta(seconds=self.view["seconds"])


def time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def usage(counts: Json, cost: float | None) -> ModelUsage:
    """Inspect counts tokens from the provider's cache beside `input_tokens`, swe-ci
    within them."""
    return ModelUsage(
        input_tokens=max(counts["input_tokens"] - counts["cached_tokens"], 0),
        output_tokens=counts["output_tokens"],
        total_tokens=counts["input_tokens"] + counts["output_tokens"],
        input_tokens_cache_read=counts["cached_tokens"],
        reasoning_tokens=counts["reasoning_tokens"],
        total_cost=cost,
    )


class Transcript:
    """Of the steps of an evolution, in order, and its iterations."""

    def __init__(self, evolution: Json, steps: list[RecordedStep]) -> None:
        self.events: list[Event] = []
        self.messages: list[ChatMessage] = []
        """The main conversations of all steps."""
        self._evolution = evolution["evolution_id"]
        self._said = 0
        self._spans: list[str] = []
        tested = {one["iteration"]: one for one in evolution["iterations"]}
        self._origin = self._now = steps[0].started if steps else datetime.fromtimestamp(0, UTC)
        for number, of_iteration in groupby(steps, lambda step: step.view["iteration"]):
            attempts = list(of_iteration)
            self._begin(attempts[0].started, "iteration", f"iteration {number}")
            for step in attempts:
                self._step(step)
            if number in tested:
                self._info(self._now, {"iteration": tested[number]})
            self._end_span()

    def end(self, score: Score | None, failure: EvalError | None) -> None:
        """Ends it with the score, or with the reason why there is none."""
        if failure is not None:
            self.events.append(ErrorEvent(error=failure, **self._at(self._now)))
        if score is not None:
            self.events.append(ScoreEvent(score=score, scorer=SCORER, **self._at(self._now)))

    def _step(self, step: RecordedStep) -> None:
        role, attempt = step.view["role"], step.view["attempt"]
        name = role if attempt == 1 else f"{role}, attempt {attempt}"
        self._begin(step.started, "agent", name)
        if step.trajectory is not None:
            main, *others = _flat(step.trajectory)
            self.messages += self._conversation(step, main)
            for number, other in enumerate(others, 2):
                self._begin(step.started, "conversation", f"conversation {number}")
                self._conversation(step, other)
                self._end_span()
        self._now = max(self._now, step.finished)
        self._info(step.finished, {"step": step.view})
        self._end_span()

    def _conversation(self, step: RecordedStep, of: Json) -> list[ChatMessage]:
        agent = of["agent"]
        definitions = agent.get("tool_definitions") or []
        names = filter(None, map(_tool_name, definitions))
        tools = [ToolInfo(name=name, description="") for name in names]
        said: list[ChatMessage] = []
        before: datetime | None = None
        for turn in of["steps"]:
            ended = time(turn["timestamp"]) if turn.get("timestamp") else before or self._now
            is_answer = turn["source"] == "agent" and not turn.get("is_copied_context")
            message = self._message(step, turn, agent.get("model_name") or "unknown")
            asked = list(said)
            if message is not None:
                said.append(message)
            if is_answer and isinstance(message, ChatMessageAssistant):
                duration = _extra(turn).get("duration_ms")
                began = before or ended
                if isinstance(duration, int):
                    began = ended - timedelta(milliseconds=duration)
                self._model_event(step, turn, message, asked, tools, began, ended)
            for result, call in _results(turn):
                answer = self._result(step, result, call)
                said.append(answer)
                if is_answer and call is not None:
                    self._tool_event(call, result, answer)
            before = ended
        return said

    def _message(self, step: RecordedStep, turn: Json, model: str) -> ChatMessage | None:
        text, source = _text(turn["message"]), turn["source"]
        if source == "system":
            return ChatMessageSystem(content=text, **self._marks(step)) if text else None
        if source == "user":
            return ChatMessageUser(content=text, **self._marks(step))
        reasoning = turn.get("reasoning_content") or ""
        parts: list[Content] = [ContentReasoning(reasoning=reasoning), ContentText(text=text)]
        return ChatMessageAssistant(
            # Some programs write the text as the reasoning once more.
            content=parts if reasoning and reasoning != text else text,
            tool_calls=[_tool_call(call) for call in turn.get("tool_calls") or []] or None,
            model=turn.get("model_name") or model,
            source=None if turn.get("is_copied_context") else "generate",
            **self._marks(step),
        )

    def _result(self, step: RecordedStep, result: Json, call: Json | None) -> ChatMessageTool:
        extra = _extra(result)
        return ChatMessageTool(
            content=_text(result.get("content")),
            tool_call_id=call["tool_call_id"] if call else extra.get("call"),
            function=call["function_name"] if call else extra.get("name"),
            error=_call_error(result),
            **self._marks(step),
        )

    def _model_event(
        self,
        step: RecordedStep,
        turn: Json,
        message: ChatMessageAssistant,
        asked: list[ChatMessage],
        tools: list[ToolInfo],
        began: datetime,
        ended: datetime,
    ) -> None:
        extra, seconds = _extra(turn), (ended - began).total_seconds()
        cut_off = "the answer is incomplete" if extra.get("complete") is False else None
        choice = ChatCompletionChoice(message=message, stop_reason=_stop_reason(turn))
        event = ModelEvent(
            model=message.model or "",
            role=step.view["role"],
            input=asked,
            tools=tools,
            tool_choice="auto",
            config=GenerateConfig(),
            output=ModelOutput(
                model=message.model or "",
                choices=[choice],
                usage=_usage(turn.get("metrics")),
                time=seconds,
            ),
            retries=extra.get("retries") or None,
            error=extra.get("error") or cut_off,
            completed=ended,
            working_time=seconds,
            **self._at(began),
        )
        self.events.append(event)
        self._now = max(self._now, ended)

    def _tool_event(self, call: Json, result: Json, message: ChatMessageTool) -> None:
        """The recording has no time of it: harnesses run tools between two requests."""
        event = ToolEvent(
            id=call["tool_call_id"],
            function=call["function_name"],
            arguments=call.get("arguments") or {},
            result=message.text,
            error=_call_error(result),
            message_id=message.id,
            **self._at(self._now),
        )
        self.events.append(event)

    def _marks(self, step: RecordedStep) -> dict[str, Any]:
        """Id and metadata of the next message."""
        self._said += 1
        metadata = {name: step.view[name] for name in ("iteration", "role", "attempt")}
        return {"id": f"{self._evolution}/m{self._said}", "metadata": metadata}

    def _begin(self, at: datetime, kind: str, name: str) -> None:
        id, stamp = f"{self._evolution}/s{len(self.events) + 1}", self._at(at)
        parent = self._spans[-1] if self._spans else None
        self._spans.append(id)
        stamp["span_id"] = id
        self.events.append(SpanBeginEvent(id=id, parent_id=parent, type=kind, name=name, **stamp))

    def _end_span(self) -> None:
        self.events.append(SpanEndEvent(id=self._spans[-1], **self._at(self._now)))
        self._spans.pop()

    def _info(self, at: datetime, data: Any) -> None:
        self.events.append(InfoEvent(source=SOURCE, data=data, **self._at(at)))

    def _at(self, at: datetime) -> dict[str, Any]:
        """Identity, span and time of the next event."""
        return {
            "uuid": f"{self._evolution}/e{len(self.events) + 1}",
            "span_id": self._spans[-1] if self._spans else None,
            "timestamp": at,
            "working_start": max((at - self._origin).total_seconds(), 0.0),
        }


def _flat(trajectory: Json) -> Iterator[Json]:
    """The trajectory, and all those inside it."""
    yield trajectory
    for inner in trajectory.get("subagent_trajectories") or []:
        yield from _flat(inner)


def _extra(part: Json) -> Json:
    return part.get("extra") or {}


def _text(content: str | list[Json] | None) -> str:
    """A part without text is named by its source."""
    if isinstance(content, list):
        return "\n".join(part.get("text") or f"[{part.get('source')}]" for part in content)
    return content or ""


def _tool_name(definition: Json) -> str | None:
    return (definition.get("function") or definition).get("name")


def _tool_call(call: Json) -> ToolCall:
    arguments = call.get("arguments") or {}
    return ToolCall(id=call["tool_call_id"], function=call["function_name"], arguments=arguments)


def _results(turn: Json) -> Iterator[tuple[Json, Json | None]]:
    """The results beside a message, each with its call in that message."""
    calls = turn.get("tool_calls") or []
    results = (turn.get("observation") or {}).get("results") or []
    named = {call["tool_call_id"]: call for call in calls}
    # Programs that name no calls give one result for each, in their order.
    in_order = len(calls) == len(results) and not any(one.get("source_call_id") for one in results)
    for number, result in enumerate(results):
        yield result, calls[number] if in_order else named.get(result.get("source_call_id"))


def _call_error(result: Json) -> ToolCallError | None:
    if not _extra(result).get("is_error"):
        return None
    return ToolCallError(type="unknown", message=_text(result.get("content")))


def _stop_reason(turn: Json) -> StopReason:
    """Some providers say "stop" where the answer ends with calls."""
    reason = STOP_REASONS.get(str(_extra(turn).get("finish_reason")).lower(), "unknown")
    return "tool_calls" if turn.get("tool_calls") and reason in ("stop", "unknown") else reason


def _usage(metrics: Json | None) -> ModelUsage | None:
    if metrics is None:
        return None
    counts = {
        "input_tokens": metrics.get("prompt_tokens") or 0,
        "output_tokens": metrics.get("completion_tokens") or 0,
        "cached_tokens": metrics.get("cached_tokens") or 0,
        "reasoning_tokens": _extra(metrics).get("reasoning_tokens") or 0,
    }
    return usage(counts, metrics.get("cost_usd"))
