"""The solver: one evolution of the run at the server."""

from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from .evaluation import OVER, UNSCORED, Evaluation, EvolutionFailed
from .server import Json

STORED = "swe_ci"
"""The key of the evolution in the store of a sample."""

_SOURCE = "swe-ci"


@solver
def run_on_server(evaluation: Evaluation) -> Solver:
    """Starts the run at the server, and follows one of its evolutions to the end.

    Inspect's own model is not called: the server's agents call the models that the
    run's configuration names.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task, sample = str(state.sample_id), state.epoch
        evolution = await _ended(evaluation, task, sample)
        state.store.set(STORED, _facts(evolution))
        state.output = ModelOutput.from_content(_SOURCE, _in_words(evolution))
        if evolution["ending"] in UNSCORED:
            reason = evolution.get("reason")
            raise EvolutionFailed(evolution["ending"] + (f": {reason}" if reason else ""))
        return state

    return solve


async def _ended(evaluation: Evaluation, task: str, sample: int) -> Json:
    """Follows an evolution; each iteration becomes an event."""
    seen = 0
    while True:
        evolution = await evaluation.evolution(task, sample)
        if seen == 0 and evolution["iterations"]:
            address = f"{evaluation.server}/runs/{evolution['run_id']}"
            transcript().info({"run": address}, source=_SOURCE)
        for iteration in evolution["iterations"][seen:]:
            transcript().info({"iteration": iteration}, source=_SOURCE)
        seen = len(evolution["iterations"])
        if evolution["ending"] is not None:
            return evolution
        if evolution["run_progress"] in OVER:
            raise EvolutionFailed("the run ended before this evolution")
        await evaluation.wait()


def _facts(evolution: Json) -> dict[str, Any]:
    """Of an evolution, without its iterations: those are events."""
    names = ("run_id", "evolution_id", "ending", "reason", "started_at", "finished_at")
    return {name: evolution.get(name) for name in names} | {
        "iterations": len(evolution["iterations"])
    }


def _in_words(evolution: Json) -> str:
    iterations = evolution["iterations"]
    return f"{evolution['ending']} after {len(iterations)} iterations"
