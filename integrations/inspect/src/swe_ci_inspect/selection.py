"""What Inspect evaluates of a dataset: a solver sees one sample at a time, and a
run of the server needs all of them at once."""

from weakref import WeakValueDictionary

from inspect_ai.hooks import Hooks, TaskStart, hooks

from .evaluation import Evaluation

METADATA = "swe_ci_evaluation"
"""The key of an evaluation in the metadata of its task."""

_evaluations: WeakValueDictionary[str, Evaluation] = WeakValueDictionary()


def register(evaluation: Evaluation) -> dict[str, str]:
    """The metadata that a task needs, so that its evaluation learns the selection."""
    _evaluations[evaluation.key] = evaluation
    return {METADATA: evaluation.key}


@hooks(
    name="swe_ci_selections",
    description="Tells the solver of SWE-CI which tasks and how many epochs Inspect evaluates.",
)
class Selections(Hooks):
    """`--limit`, `--sample-id` and `--epochs` decide what the run costs."""

    async def on_task_start(self, data: TaskStart) -> None:
        key = (data.spec.metadata or {}).get(METADATA)
        evaluation = _evaluations.get(key) if key is not None else None
        if evaluation is not None:
            ids = [str(id) for id in data.spec.dataset.sample_ids or []]
            evaluation.select(ids, data.spec.config.epochs or 1)
