"""Runs of a server as logs of Inspect: a file for each run, a sample for each
evolution, an epoch for each sample of a task."""

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalPlanStep,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    HeadlineMetric,
    write_eval_log,
)
from inspect_ai.model import ModelConfig, ModelUsage
from inspect_ai.scorer import Score

from .evaluation import NUMBERS, OVER, UNSCORED
from .refusal import WrongParameter
from .server import Json, Server, ServerError
from .transcript import SCORER, RecordedStep, Transcript, usage

MEANS = {
    "evoscore": "evoscore",
    "zero_regression": "zero_regression_rate",
    "solved": "solved_rate",
    "zrr": "zrr",
    "iterations": "average_turns",
}
"""The numbers of a run that the API has, and their names there."""

HEADLINE = HeadlineMetric(scorer=SCORER, score="evoscore", metric="mean")

Note = Callable[[str], None]


class RunOnServer:
    """A run with its scores, apart from the conversations of its agents."""

    def __init__(self, server: Server, run_id: str, gamma: float, convention: str) -> None:
        self.server = server
        self.run: Json = server.get(f"runs/{run_id}")
        self.config: Json = self.run["config"]
        if self.run["progress"] not in OVER:
            raise WrongParameter(
                f"the run {run_id} is {self.run['progress']}; export it when it is over"
            )
        evolutions = self.run["evolution_list"]
        if convention == "paper" and any(one["suite"].get("counts_only") for one in evolutions):
            raise WrongParameter(
                f"the run {run_id} knows counts of tests only, which have no score in the "
                "convention `paper`; choose `reference`"
            )
        self.id = "".join(filter(str.isalnum, self.run["run_id"]))
        self.counting = {"convention": convention, "gamma": gamma}
        self.scores: Json = server.get(
            f"runs/{run_id}/scores", gamma=str(gamma), convention=convention
        )

    @property
    def file_name(self) -> str:
        """As Inspect names its own: time, task, id. A run always has the same."""
        second = self.run["created_at"][:19].replace(":", "-")
        return f"{second}+00-00_swe-ci_{self.id}.eval"

    def model(self, role: str) -> str | None:
        """The provider's name of the role's model, if its agent calls one."""
        own = self.config.get("programmer") if role == "programmer" else None
        endpoint = (own or self.config).get("endpoint")
        return endpoint["model"] if endpoint else None

    def log(self, note: Note) -> EvalLog:
        """All of it; `note` hears which recordings cannot be read."""
        card = self.server.get(f"runs/{self.run['run_id']}/card")
        about = {one["task_id"]: one for one in card["tasks"]}
        for task in self.server.tasks(self.config["split"], state=None):
            about.setdefault(task["task_id"], {})["repo"] = task["repo"]
        samples = [
            self._sample(one, about.get(one["task_id"], {}), note)
            for one in self.run["evolution_list"]
        ]
        return EvalLog(
            status="cancelled" if self.run["progress"] == "cancelled" else "success",
            eval=self._spec(card),
            plan=EvalPlan(steps=[self._solver()]),
            results=self._results(),
            stats=EvalStats(
                started_at=self.run["started_at"] or "",
                completed_at=self.run["finished_at"] or "",
                model_usage=_sums(one.model_usage for one in samples),
                role_usage=_sums(one.role_usage for one in samples),
            ),
            samples=samples,
        )

    def _solver(self) -> EvalPlanStep:
        harness = self.config["harness"]
        # A run that was made elsewhere names the program beside that.
        name = harness.get("program") or harness["name"]
        return EvalPlanStep(solver=name, params={"plan": self.config["plan"]})

    def _spec(self, card: Json) -> EvalSpec:
        config, solver = self.config, self._solver()
        models = {role: self.model(role) for role in ("architect", "programmer")}
        roles: Any = {role: ModelConfig(model=model) for role, model in models.items() if model}
        ids = [task["task_id"] for task in card["tasks"]]
        return EvalSpec(
            eval_id=self.id,
            run_id=self.run["run_id"],
            created=self.run["created_at"],
            task="swe_ci",
            task_id=self.id,
            task_version=card["metric_version"],
            task_display_name=f"SWE-CI {config['split']}",
            task_args={"split": config["split"], "mode": config["mode"]},
            solver=solver.solver,
            solver_args=solver.params,
            dataset=EvalDataset(
                name=config["split"], samples=len(ids), sample_ids=ids, shuffled=False
            ),
            model=config["model"],
            model_roles=roles or None,
            config=EvalConfig(epochs=config["samples"], epochs_reducer=["mean"]),
            packages={"swe-ci": card["platform_version"]},
            metadata=_known(
                provider=config["provider"],
                max_iterations=self.scores["max_iterations"],
                unranked=self.run.get("unranked"),
                card=card,
                **self.counting,
            ),
            headline_metric=HEADLINE,
        )

    def _results(self) -> EvalResults:
        total, scored = len(self.run["evolution_list"]), len(self.scores["tasks"])
        intervals = self.scores.get("intervals") or {}
        means = {name: self.scores[MEANS[name]] for name in MEANS}
        means |= {name: self._mean_over_tasks(name) for name in NUMBERS if name not in MEANS}
        scores = []
        for name in NUMBERS:
            if means[name] is None:
                continue
            within = intervals.get(MEANS.get(name, ""))
            metadata = {"low_95": within["low"], "high_95": within["high"]} if within else None
            metric = EvalMetric(name="mean", value=means[name], metadata=metadata)
            scores.append(
                EvalScore(
                    name=name,
                    scorer=SCORER,
                    reducer="mean",
                    scored_samples=scored,
                    unscored_samples=total - scored,
                    metrics={"mean": metric},
                )
            )
        return EvalResults(
            total_samples=total, completed_samples=scored, scores=scores, headline=HEADLINE
        )

    def _mean_over_tasks(self, name: str) -> float | None:
        """Of the means over each task's samples; none without an evolution."""
        by_task = defaultdict(list)
        for entry in self.scores["tasks"]:
            by_task[entry["task_id"]].append(float(entry[NUMBERS[name]]))
        means = [sum(numbers) / len(numbers) for numbers in by_task.values()]
        return sum(means) / len(means) if means else None

    def _sample(self, evolution: Json, task: Json, note: Note) -> EvalSample:
        steps = self._steps(evolution, note)
        score, failure = self._score(evolution), _failure(evolution)
        transcript = Transcript(evolution, steps)
        transcript.end(score, failure)
        by_model, by_role = self._usages(steps)
        suite, repo = evolution["suite"], task.get("repo") or evolution["task_id"]
        target, gap = suite["target"], suite["target"] - suite["base_in_target"]
        base_sha, target_sha = task.get("base_sha"), task.get("target_sha")
        return EvalSample(
            id=evolution["task_id"],
            epoch=evolution["sample"],
            uuid=evolution["evolution_id"],
            # As the task of this package words it.
            input=(
                f"Maintain {repo} from commit {base_sha or '?'} to {target_sha or '?'}: "
                f"{gap} of the target's {target} tests do not pass yet."
            ),
            target=target_sha or "",
            messages=transcript.messages,
            events=transcript.events,
            scores={SCORER: score} if score else None,
            error=failure,
            model_usage=by_model,
            role_usage=by_role,
            started_at=evolution["started_at"],
            completed_at=evolution["finished_at"],
            total_time=_seconds(steps),
            working_time=sum(map(_working_seconds, steps)) if steps else None,
            metadata=_known(
                run_id=self.run["run_id"],
                evolution_id=evolution["evolution_id"],
                repo=repo,
                base_commit=base_sha,
                target_commit=target_sha,
                base_passed=suite["base_in_target"],
                target_passed=target,
                gap=gap,
                ending=evolution["ending"],
                reason=evolution["reason"],
                iterations=len(evolution["iterations"]),
                max_iterations=evolution["max_iterations"],
                start=evolution.get("start"),
                history=evolution["iterations"],
            ),
        )

    def _score(self, evolution: Json) -> Score | None:
        wanted = (evolution["task_id"], evolution["sample"])
        for entry in self.scores["tasks"]:
            if (entry["task_id"], entry["sample"]) == wanted:
                suite, iterations = evolution["suite"], evolution["iterations"]
                # Collapsed code passes no test.
                last = iterations[-1].get("in_target", 0) if iterations else suite["base_in_target"]
                return Score(
                    value={name: entry[in_api] for name, in_api in NUMBERS.items()},
                    explanation=f"{evolution['ending']}: {last} of {suite['target']} target tests "
                    f"pass after {entry['turns']} of {evolution['max_iterations']} iterations",
                    # Inspect Scout lists it: it makes no yes or no of a score with many fields.
                    metadata={**self.counting, "success": entry["solved"]},
                )
        return None

    def _steps(self, evolution: Json, note: Note) -> list[RecordedStep]:
        id = evolution["evolution_id"]
        views: list[Json] = self.server.get(f"evolutions/{id}/steps")
        names = [(view["iteration"], view["role"], view["attempt"]) for view in views]
        steps = []
        for number, (view, name) in enumerate(zip(views, names, strict=True)):
            trajectory = None
            # The API has the last one of an attempt that was interrupted and repeated.
            if view.get("recording") and name not in names[number + 1 :]:
                iteration, role, attempt = name
                try:
                    trajectory = self.server.get(
                        f"evolutions/{id}/iterations/{iteration}/{role}/trajectory",
                        format="atif",
                        attempt=str(attempt),
                    )
                except ServerError as error:
                    note(
                        f"{evolution['task_id']}, sample {evolution['sample']}, iteration "
                        f"{iteration}, {role}, attempt {attempt}: the recording cannot be read: "
                        f"{error}"
                    )
            steps.append(RecordedStep(view, trajectory))
        return steps

    def _usages(
        self, steps: list[RecordedStep]
    ) -> tuple[dict[str, ModelUsage], dict[str, ModelUsage]]:
        """By model, and by role."""
        by_model, by_role = [], []
        for step in steps:
            if counts := step.view["usage"]:
                micro_usd = (step.view["traffic"] or {}).get("micro_usd")
                used = usage(counts, None if micro_usd is None else micro_usd / 1e6)
                role = step.view["role"]
                by_model.append({self.model(role) or self.config["model"]: used})
                by_role.append({role: used})
        return _sums(by_model), _sums(by_role)


def write(run: RunOnServer, folder: Path, replace: bool, note: Note) -> Path:
    """Writes the log of a run. A file that is there is kept unless it shall be
    replaced; one appears when it is whole."""
    path = folder / run.file_name
    if path.exists() and not replace:
        note(f"{path} is there already, and is kept; --replace writes it anew")
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".swe-ci-", dir=folder) as beside:
        whole = Path(beside) / run.file_name
        write_eval_log(run.log(note), str(whole))
        os.replace(whole, path)
    return path


def _failure(evolution: Json) -> EvalError | None:
    """Why it has no score: nothing that the model did."""
    ending = evolution["ending"]
    if ending is not None and ending not in UNSCORED:
        return None
    reason = f": {evolution['reason']}" if evolution["reason"] else ""
    message = f"{ending or evolution['progress']}{reason}"
    return EvalError(message=message, traceback="", traceback_ansi="")


def _seconds(steps: list[RecordedStep]) -> float | None:
    if not steps:
        return None
    span = max(step.finished for step in steps) - steps[0].started
    # Times of the API are whole seconds, and steps come one after the other.
    return max(span.total_seconds(), sum(float(step.view["seconds"]) for step in steps))


def _working_seconds(step: RecordedStep) -> float:
    """Without waiting for a provider."""
    waiting: int = (step.view["traffic"] or {}).get("waiting_ms", 0)
    return max(float(step.view["seconds"]) - waiting / 1e3, 0.0)


def _sums(usages: Iterable[dict[str, ModelUsage]]) -> dict[str, ModelUsage]:
    parts = defaultdict(list)
    for named in usages:
        for name, used in named.items():
            parts[name].append(used)
    return {name: _sum(used) for name, used in sorted(parts.items())}


def _sum(parts: list[ModelUsage]) -> ModelUsage:
    """With a cost only if every part has one."""
    costs = [part.total_cost for part in parts if part.total_cost is not None]
    return ModelUsage(
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        total_tokens=sum(part.total_tokens for part in parts),
        input_tokens_cache_read=sum(part.input_tokens_cache_read or 0 for part in parts),
        reasoning_tokens=sum(part.reasoning_tokens or 0 for part in parts),
        total_cost=sum(costs) if len(costs) == len(parts) else None,
    )


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
