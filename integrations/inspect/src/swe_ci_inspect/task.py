"""The task: the tasks of a split, a run over them, and its scores."""

from urllib.parse import quote

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric

from . import configuration
from .evaluation import Evaluation
from .refusal import WrongParameter
from .scorer import swe_ci_scorer
from .selection import register
from .server import Json, Server
from .solver import run_on_server


@task
def swe_ci(
    server: str = "http://127.0.0.1:3000",
    split: str = "demo",
    tasks: str | list[str] | None = None,
    config: str | None = None,
    run: str | None = None,
    gamma: float = 1.0,
    convention: str = "paper",
    private: bool = True,
    poll_seconds: float = 10.0,
) -> Task:
    """SWE-CI: how well does an agent maintain a codebase over many iterations?

    Args:
        server: The address of a swe-ci server. The environment variable
            `SWE_CI_TOKEN` holds an API token with the scope `submitter`.
        split: The split of the server.
        tasks: Some tasks of the split; all of them when absent.
        config: The file of the run's configuration (TOML or JSON), as
            `swe-ci run submit` takes it, or `human` for the human baseline. It names
            the model and the harness.
        run: An earlier run to follow in place of a new one.
        gamma: Weight of later iterations, 0.1 to 10.
        convention: How tests are counted: `paper` or `reference`.
        private: Shows the new run to its submitter and administrators only.
        poll_seconds: Seconds between two looks at the run.
    """
    if (config is None) == (run is None):
        raise WrongParameter("give one of config (the run to start) and run (the run to follow)")
    at = Server(server)
    fields = configuration.read(config) if config is not None else None
    if fields is not None:
        at.need_token()
    ready = at.tasks(split)
    if not ready:
        raise WrongParameter(
            f"split: no task of {split} can run; {at}/tasks?split={quote(split)} says why. "
            "Name another split, or have its tasks imported (`swe-ci dataset import`)"
        )
    evaluation = Evaluation(
        server=at,
        split=split,
        config=fields,
        run=run,
        all_tasks=[one["task_id"] for one in ready],
        private=private,
        gamma=gamma,
        convention=convention,
        poll_seconds=poll_seconds,
    )
    return Task(
        dataset=MemoryDataset([_sample(one) for one in _chosen(ready, tasks, split)], name=split),
        solver=run_on_server(evaluation),
        scorer=swe_ci_scorer(evaluation),
        # An evolution that the platform failed has no score and no share in any mean;
        # it must not end the others.
        fail_on_error=False,
        metadata=register(evaluation),
        headline_metric=HeadlineMetric(score="evoscore", metric="mean"),
    )


def _chosen(ready: list[Json], tasks: str | list[str] | None, split: str) -> list[Json]:
    if tasks is None:
        return ready
    names = [tasks] if isinstance(tasks, str) else tasks
    by_name = {one["task_id"]: one for one in ready}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise WrongParameter(
            f"tasks: the split {split} has no task {', '.join(unknown)} that can run"
        )
    return [by_name[name] for name in names]


def _sample(task: Json) -> Sample:
    return Sample(
        id=task["task_id"],
        input=(
            f"Maintain {task['repo'] or task['task_id']} from commit {task['base_sha']} to "
            f"{task['target_sha']}: {task['gap']} of the target's {task['target_passed']} tests "
            "do not pass yet."
        ),
        target=task["target_sha"],
        metadata={
            "repo": task["repo"],
            "base_commit": task["base_sha"],
            "target_commit": task["target_sha"],
            "gap": task["gap"],
            "target_passed": task["target_passed"],
        },
    )
