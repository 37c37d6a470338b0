"""Evolutions as an environment of `verifiers` (version 0.4): its id is
`swe-ci-verifiers`.

    env = load_environment(EvolutionEnvConfig(taskset={
        "id": "swe-ci-verifiers", "folder": "tasks/evolution"}))

An episode is an evolution: each iteration is one run of the agent, with a trace
and a reward of its own (`gap_closed`). The model sees the failing tests and the
sources, and answers with the files that it changes.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import verifiers.v1 as vf

from .errors import SweCiError
from .evolution import Evolution, Observation

__all__ = ["EvolutionEnv", "EvolutionTaskset", "ReplyHarness"]

_MOST_SOURCES = 120_000
_MOST_TESTS = 100


class EvolutionData(vf.TaskData):
    folder: str
    iterations: int


class EvolutionTask(vf.Task[EvolutionData]):
    pass


class EvolutionConfig(vf.TasksetConfig):
    folder: Path = Path("tasks/evolution")
    """`FOLDER/evolution` of `swe-ci dataset export SPLIT FOLDER --as harbor`."""
    iterations: int = 20
    """Iterations of an evolution, at most."""


class EvolutionTaskset(vf.Taskset[EvolutionTask, EvolutionConfig]):
    def load(self) -> Iterator[EvolutionTask]:
        folders = sorted(path.parent for path in self.config.folder.glob("*/task.toml"))
        if not folders:
            raise SweCiError(
                f"{self.config.folder} has no tasks; "
                "`swe-ci dataset export SPLIT FOLDER --as harbor` writes FOLDER/evolution"
            )
        for folder in folders:
            data = EvolutionData(
                id=folder.name,
                name=folder.name,
                prompt="",
                folder=str(folder),
                iterations=self.config.iterations,
            )
            yield EvolutionTask(data, self.config.task)


class EvolutionEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class EvolutionEnv(vf.Env[EvolutionEnvConfig]):
    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        assert isinstance(task, EvolutionTask)
        evolution = await asyncio.to_thread(Evolution, task.data.folder, task.data.iterations)
        observation = evolution.reset()
        while True:
            trace = await agents.agent.run(task.with_data(prompt=prompt(task.data.id, observation)))
            if not trace.ok:
                return
            try:
                changes = changed_files(trace.last_reply)
            except SweCiError:
                # An answer that nobody can read changes nothing.
                changes = {}
            step = await asyncio.to_thread(evolution.step, changes)
            trace.record_reward("gap_closed", step.reward)
            trace.record_metric("gained", step.gained)
            trace.record_metric("lost", step.lost)
            trace.record_metric("iteration", observation.iteration)
            if step.done:
                return
            observation = step.observation


class ReplyHarnessConfig(vf.HarnessConfig):
    pass


class ReplyHarness(vf.Harness[ReplyHarnessConfig]):
    """Asks the model once, and takes its answer."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        tool_interception_url: str | None = None,
    ) -> vf.ProgramResult:
        _, text = self.resolve_text_prompt(data)
        body = {"model": ctx.model, "messages": [{"role": "user", "content": text}]}
        async with httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                json=body,
                headers={"authorization": f"Bearer {secret}"},
            )
        code = 0 if answer.is_success else 1
        return vf.ProgramResult(exit_code=code, stdout=answer.text, stderr=answer.text)


def prompt(task: str | None, observation: Observation) -> str:
    """What the model is told before an iteration."""
    parts = [
        f"You maintain the project of the task {task}. This is iteration {observation.iteration}.",
        "These tests do not pass yet:",
    ]
    for test in observation.failing[:_MOST_TESTS]:
        parts.append(f"- `{test.node_id}` ({test.outcome})\n{test.message}".rstrip())
    parts.append("The sources:")
    size = 0
    for path, content in observation.code.items():
        size += len(content)
        if path.endswith(".py") and not path.startswith("tests/") and size <= _MOST_SOURCES:
            parts.append(f"`{path}`\n```python\n{content.decode(errors='replace')}\n```")
    parts.append(
        "Make more of them pass, and let none fail that passes today. Answer with one JSON object "
        "in a ```json block: for each file that you change its path and its whole new text, or "
        "null to remove it. Files below tests/ stay as they are."
    )
    return "\n\n".join(parts)


def changed_files(reply: str) -> Mapping[str, str | None]:
    """The files of an answer.

    Raises:
        SweCiError: it has no JSON object of texts.
    """
    blocks = re.findall(r"```json\n(.*?)\n```", reply, re.DOTALL)
    try:
        found: Any = json.loads(blocks[-1] if blocks else reply)
    except json.JSONDecodeError as error:
        raise SweCiError(f"the answer has no JSON object: {error}") from error
    if not isinstance(found, dict) or not all(
        text is None or isinstance(text, str) for text in found.values()
    ):
        raise SweCiError("the answer is no object of texts by path")
    return found
