"""The scorer: the server's numbers of one evolution."""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from .evaluation import NUMBERS, Evaluation
from .solver import STORED

# Inspect averages the epochs of a sample first and then the samples, as swe-ci
# averages the evolutions of a task first and then the tasks.
_METRICS = {name: [mean(), stderr()] for name in NUMBERS}


@scorer(metrics=_METRICS, name="swe_ci")
def swe_ci_scorer(evaluation: Evaluation) -> Scorer:
    """Asks the server: the numbers are those that its pages show."""

    async def score(state: TaskState, target: Target) -> Score:
        numbers = await evaluation.score(str(state.sample_id), state.epoch)
        counting = {"gamma": evaluation.gamma, "convention": evaluation.convention}
        return Score(
            value=numbers,
            explanation=state.output.completion,
            metadata={**state.store.get(STORED, {}), **counting},
        )

    return score
