"""Scanners of `test_scout.py`, which `scout scan` runs. None of them calls a model."""

from inspect_ai.event import InfoEvent, ModelEvent, TimelineSpan, ToolEvent
from inspect_ai.model import ChatMessageAssistant
from inspect_scout import Result, Scanner, Transcript, grep_scanner, scanner

WANTED = "something new"


@scanner(messages="all")
def found() -> Scanner[Transcript]:
    return grep_scanner(WANTED)


@scanner(messages=["assistant"])
def calls() -> Scanner[ChatMessageAssistant]:
    async def scan(message: ChatMessageAssistant) -> Result:
        return Result(value=" ".join(call.function for call in message.tool_calls or []))

    return scan


@scanner(events=["model"])
def answers() -> Scanner[ModelEvent]:
    async def scan(event: ModelEvent) -> Result:
        return Result(value=event.output.stop_reason, label=event.role)

    return scan


@scanner(events=["tool"])
def runs() -> Scanner[ToolEvent]:
    async def scan(event: ToolEvent) -> Result:
        return Result(value=str(event.result), label=event.function)

    return scan


@scanner(events=["info"])
def verdicts() -> Scanner[Transcript]:
    async def scan(transcript: Transcript) -> Result:
        told: list[str] = []
        for event in transcript.events:
            match event:
                case InfoEvent(data={"iteration": {"verdict": str(verdict)}}):
                    told.append(verdict)
        return Result(value=" ".join(told))

    return scan


@scanner(timeline="all")
def steps() -> Scanner[Transcript]:
    async def scan(transcript: Transcript) -> Result:
        (timeline,) = transcript.timelines
        spans = [item for item in timeline.root.content if isinstance(item, TimelineSpan)]
        return Result(value=" ".join(span.name for span in spans))

    return scan
