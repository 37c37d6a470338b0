//! A gate: whether a candidate loses no more against a baseline than its rules
//! allow.

mod markdown;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma, SAME};
use swe_ci_core::run::Progress;
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::{BoundDecision, BoundTest, Difference, Look};

use super::rows::zero_regression;
use super::{Entry, Incomparable, LeaderboardData, ScoredTask, UncertaintyModel};
use crate::count;

/// As many tasks are named on which the candidate lost most.
const WORST_TASKS: usize = 5;

/// How much a candidate may lose, and how sure the gate must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GateRules {
    /// The least mean difference in EvoScore, candidate minus baseline: -2 to 2.
    pub min_evoscore_delta: f64,
    /// The most that the zero-regression rate may drop, 0 to 1; absent where it
    /// does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_zero_regression_drop: Option<f64>,
    /// The error rate of a bound, 0.001 to 0.5.
    pub alpha: f64,
    /// Whether to decide before the runs are over where that is possible.
    pub early: bool,
}

impl Default for GateRules {
    fn default() -> Self {
        Self {
            min_evoscore_delta: -0.02,
            max_zero_regression_drop: None,
            alpha: 0.05,
            early: false,
        }
    }
}

impl GateRules {
    /// # Errors
    /// The name of the first rule out of its range, and the range.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let within = |value: f64, least: f64, most: f64| (least..=most).contains(&value);
        if !within(self.min_evoscore_delta, -2.0, 2.0) {
            return Err(("min_evoscore_delta", "a number from -2 to 2"));
        }
        let drop = self.max_zero_regression_drop;
        if drop.is_some_and(|drop| !within(drop, 0.0, 1.0)) {
            return Err(("max_zero_regression_drop", "a number from 0 to 1"));
        }
        if !within(self.alpha, 0.001, 0.5) {
            return Err(("alpha", "a number from 0.001 to 0.5"));
        }
        Ok(())
    }
}

swe_ci_core::named! {
    /// What a gate says.
    pub enum GateDecision {
        /// The candidate keeps to every bound.
        Pass = "pass",
        /// It breaks one.
        Fail = "fail",
        /// The data does not tell, or not yet.
        Open = "open",
    }
}

/// A gate's decision, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GateReport {
    pub decision: GateDecision,
    /// The reason in a sentence.
    pub reason: String,
    pub split: String,
    pub convention: Convention,
    #[schema(value_type = f64)]
    pub gamma: Gamma,
    pub rules: GateRules,
    pub baseline: GateRun,
    pub candidate: GateRun,
    /// Tasks both were scored on.
    pub tasks: u32,
    /// Repositories of those tasks.
    pub repositories: u32,
    /// Tasks of the split.
    pub tasks_total: u32,
    /// Each rule with its numbers.
    pub bounds: Vec<GateBound>,
    /// The tasks on which the candidate lost most, worst first.
    pub worst: Vec<GateTask>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GateRun {
    pub run_id: String,
    pub model: String,
    pub harness: String,
    pub harness_version: String,
    pub progress: Progress,
}

/// A rule of a gate, tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GateBound {
    /// `evoscore` or `zero_regression_rate`.
    pub metric: String,
    #[serde(flatten)]
    pub test: BoundTest,
}

/// A task on which the candidate lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GateTask {
    pub task_id: TaskId,
    /// In EvoScore, candidate minus baseline.
    pub difference: f64,
}

impl LeaderboardData {
    /// Whether `candidate` loses no more against `baseline` than the rules allow.
    ///
    /// # Errors
    /// [`Incomparable`] with the reason.
    pub fn gate(
        &self,
        baseline: &str,
        candidate: &str,
        rules: GateRules,
        gamma: Gamma,
        convention: Convention,
    ) -> Result<GateReport, Incomparable> {
        Incomparable::check(&[candidate.to_owned(), baseline.to_owned()])?;
        let candidate = self.gated(candidate, convention)?;
        let baseline = self.gated(baseline, convention)?;
        let model = UncertaintyModel::of_all(self);
        let pair = Pairing::new(&model, candidate, baseline);
        let over = candidate.progress.is_over() && baseline.progress.is_over();
        if over && pair.tasks.is_empty() {
            return Err(Incomparable::NothingShared);
        }
        let look = match (rules.early, over) {
            (false, _) => Look::Once,
            (true, true) => Look::Last,
            (true, false) => Look::Early {
                planned: model.repositories(),
            },
        };
        let evoscore = |entry: &Entry| entry.scores_by_task(gamma, convention);
        let without_regression =
            |entry: &Entry| entry.by_task(convention, zero_regression).collect();
        let mut bounds = pair.bound("evoscore", evoscore, rules.min_evoscore_delta, rules, look);
        if let Some(drop) = rules.max_zero_regression_drop {
            bounds.extend(pair.bound(
                "zero_regression_rate",
                without_regression,
                -drop,
                rules,
                look,
            ));
        }
        let (decision, reason) = decide(&pair, &bounds, rules, over);
        Ok(GateReport {
            decision,
            reason,
            split: self.split.clone(),
            convention,
            gamma,
            rules,
            baseline: GateRun::of(baseline),
            candidate: GateRun::of(candidate),
            tasks: count(pair.tasks.len()),
            repositories: count(pair.repositories()),
            tasks_total: candidate.tasks_total.max(baseline.tasks_total),
            bounds,
            worst: pair.worst(evoscore),
        })
    }

    /// One of the two runs; it need not have a score yet.
    fn gated(&self, run_id: &str, convention: Convention) -> Result<&Entry, Incomparable> {
        let entry = self.all().find(|entry| entry.run_id == run_id);
        let entry = entry.ok_or_else(|| Incomparable::Unknown(run_id.to_owned()))?;
        match entry.tasks.is_empty() || entry.is_scored(convention) {
            true => Ok(entry),
            false => Err(Incomparable::CountsOnly(entry.model.clone())),
        }
    }
}

/// The tasks that two runs share: their places in both.
struct Pairing<'a> {
    model: &'a UncertaintyModel,
    candidate: &'a Entry,
    baseline: &'a Entry,
    tasks: Vec<(usize, usize)>,
}

impl<'a> Pairing<'a> {
    fn new(model: &'a UncertaintyModel, candidate: &'a Entry, baseline: &'a Entry) -> Self {
        let others = baseline.tasks.iter().enumerate();
        let others: HashMap<&TaskId, usize> =
            others.map(|(at, task)| (task.task_id(), at)).collect();
        let own = candidate.tasks.iter().enumerate();
        let tasks = own.filter_map(|(at, task)| {
            let other = *others.get(task.task_id())?;
            ScoredTask::is_one(&[task, &baseline.tasks[other]]).then_some((at, other))
        });
        Self {
            model,
            candidate,
            baseline,
            tasks: tasks.collect(),
        }
    }

    fn repositories(&self) -> usize {
        let all = self.tasks.iter();
        let all = all.map(|(own, _)| self.model.repository(&self.candidate.tasks[*own]));
        all.collect::<HashSet<usize>>().len()
    }

    fn differences(&self, values: impl Fn(&Entry) -> Vec<f64>) -> Vec<Difference> {
        let (candidate, baseline) = (values(self.candidate), values(self.baseline));
        let shared = self.tasks.iter();
        shared
            .map(|(own, other)| Difference {
                repository: self.model.repository(&self.candidate.tasks[*own]),
                value: candidate[*own] - baseline[*other],
            })
            .collect()
    }

    fn bound(
        &self,
        metric: &str,
        values: impl Fn(&Entry) -> Vec<f64>,
        bound: f64,
        rules: GateRules,
        look: Look,
    ) -> Vec<GateBound> {
        let differences = self.differences(values);
        let test = BoundTest::of(
            &differences,
            bound,
            rules.alpha,
            look,
            self.model.repositories(),
        );
        let test = test.map(|test| GateBound {
            metric: metric.to_owned(),
            test,
        });
        test.into_iter().collect()
    }

    fn worst(&self, values: impl Fn(&Entry) -> Vec<f64>) -> Vec<GateTask> {
        let differences = self.differences(values);
        let tasks = self.tasks.iter().zip(&differences);
        let tasks = tasks.map(|((own, _), difference)| GateTask {
            task_id: self.candidate.tasks[*own].task_id().clone(),
            difference: difference.value,
        });
        let mut lost: Vec<GateTask> = tasks.filter(|task| task.difference < -SAME).collect();
        lost.sort_by(|a, b| {
            let order = a.difference.total_cmp(&b.difference);
            order.then_with(|| a.task_id.cmp(&b.task_id))
        });
        lost.truncate(WORST_TASKS);
        lost
    }
}

impl GateRun {
    fn of(entry: &Entry) -> Self {
        Self {
            run_id: entry.run_id.clone(),
            model: entry.model.clone(),
            harness: entry.harness.clone(),
            harness_version: entry.harness_version.clone(),
            progress: entry.progress,
        }
    }
}

/// The decision and its reason.
fn decide(
    pair: &Pairing<'_>,
    bounds: &[GateBound],
    rules: GateRules,
    over: bool,
) -> (GateDecision, String) {
    for run in [pair.candidate, pair.baseline] {
        let unfinished =
            |why: &&Unranked| matches!(why, Unranked::Incomplete { .. }) && !run.progress.is_over();
        if let Some(why) = run.unranked.as_ref().filter(|why| !unfinished(why)) {
            let reason = format!("The results of {} take no rank: {why}.", run.model);
            return (GateDecision::Open, reason);
        }
    }
    if !over && !rules.early {
        let reason = "Not both runs are over; a gate with early looks may decide before.";
        return (GateDecision::Open, reason.to_owned());
    }
    if pair.tasks.is_empty() {
        let reason = "No task is scored in both runs yet.";
        return (GateDecision::Open, reason.to_owned());
    }
    let of = |decision: BoundDecision| {
        let metrics = bounds.iter().filter(|b| b.test.decision == decision);
        let metrics: Vec<&str> = metrics.map(GateBound::noun).collect();
        metrics.join(" and ")
    };
    let (broken, open) = (of(BoundDecision::Broken), of(BoundDecision::Open));
    if !broken.is_empty() {
        let reason = format!("The candidate loses more than the gate allows in {broken}.");
        return (GateDecision::Fail, reason);
    }
    if open.is_empty() {
        let reason = "The candidate keeps to every bound.";
        return (GateDecision::Pass, reason.to_owned());
    }
    let fewest = fewest_repositories(bounds);
    let reason = match (over, pair.repositories() < fewest) {
        (false, _) => format!("Too few tasks are done to tell about {open}."),
        (true, true) => format!(
            "The shared tasks are of {} repositories; at this error rate no test can tell about {open} from fewer than {fewest}.",
            pair.repositories()
        ),
        (true, false) => format!(
            "The interval spans the bound in {open}; more samples or more tasks would narrow it."
        ),
    };
    (GateDecision::Open, reason)
}

/// With fewer, a test by sign flips is never below its error rate: two of all
/// combinations are always as far from zero.
fn fewest_repositories(bounds: &[GateBound]) -> usize {
    let alpha = bounds
        .iter()
        .map(|bound| bound.test.alpha)
        .fold(1.0, f64::min);
    let fewest = (1..64).find(|n| 2f64.powi(1 - n) < alpha);
    fewest.unwrap_or(64) as usize
}

impl GateBound {
    /// The metric in a sentence.
    pub fn noun(&self) -> &'static str {
        match self.metric.as_str() {
            "evoscore" => "EvoScore",
            _ => "the zero-regression rate",
        }
    }
}

#[cfg(test)]
mod tests {
    use swe_ci_core::finding::Unranked;

    use super::*;
    use crate::testing::{entry, leaderboard};

    /// A run with a task in each of `n` repositories.
    fn run(model: &str, n: usize, score: impl Fn(usize) -> f64) -> Entry {
        let repos: Vec<String> = (0..n).map(|i| format!("repo-{i:02}")).collect();
        let scores: Vec<[f64; 1]> = (0..n).map(|i| [score(i)]).collect();
        let samples: Vec<[&[f64]; 1]> = scores.iter().map(|s| [s.as_slice()]).collect();
        let tasks: Vec<(&str, &[&[f64]])> = repos
            .iter()
            .zip(&samples)
            .map(|(repo, samples)| (repo.as_str(), samples.as_slice()))
            .collect();
        entry(model, &tasks)
    }

    fn gate(data: &LeaderboardData, rules: GateRules) -> GateReport {
        let report = data.gate("run-old", "run-new", rules, Gamma::ONE, Convention::Paper);
        report.unwrap()
    }

    fn wave(i: usize) -> f64 {
        [0.02, -0.02, 0.01, -0.01][i % 4]
    }

    #[test]
    fn a_gate_waits_for_the_first_scores() {
        let mut candidate = run("new", 0, |_| 0.0);
        candidate.progress = Progress::Running;
        let mut data = leaderboard(vec![run("old", 20, |_| 0.3)]);
        let known = |data: &LeaderboardData| data.has("run-new");
        assert!(!known(&data));
        data.add_beside(candidate);
        assert!(known(&data));
        let rules = GateRules::default();
        let open = |early: bool, says: &str| {
            let report = gate(&data, GateRules { early, ..rules });
            assert_eq!(report.decision, GateDecision::Open);
            assert!(report.reason.contains(says), "{}", report.reason);
            assert_eq!((report.bounds.len(), report.tasks), (0, 0));
        };
        open(false, "Not both runs are over");
        open(true, "No task is scored in both runs yet");
        // There will be none.
        data.unranked[0].progress = Progress::Finished;
        let never = data.gate("run-old", "run-new", rules, Gamma::ONE, Convention::Paper);
        assert_eq!(never.unwrap_err(), Incomparable::NothingShared);
    }

    #[test]
    fn a_candidate_passes_fails_or_stays_open() {
        let check = |n: usize, change: fn(usize) -> f64, expect: GateDecision, says: &str| {
            let old = run("old", n, |i| 0.3 + wave(i));
            let new = run("new", n, |i| 0.3 + wave(i) + change(i));
            let report = gate(&leaderboard(vec![old, new]), GateRules::default());
            assert_eq!(report.decision, expect, "{report:?}");
            assert!(report.reason.contains(says), "{}", report.reason);
        };
        check(20, |_| 0.0, GateDecision::Pass, "keeps to every bound");
        check(20, |i| 0.2 + wave(i + 1), GateDecision::Pass, "keeps");
        check(20, |i| wave(i + 1) - 0.2, GateDecision::Fail, "in EvoScore");
        let torn = |i: usize| if i.is_multiple_of(2) { 0.3 } else { -0.3 };
        check(20, torn, GateDecision::Open, "spans the bound");
        check(4, |_| 0.5, GateDecision::Open, "fewer than 6");
    }

    #[test]
    fn every_bound_must_hold() {
        // A gain in the end that breaks tests on the way.
        let old = run("old", 12, |_| 0.5);
        let mut new = run("new", 12, |_| 0.5);
        let falls = entry("new", &[("r", &[&[-0.5, 0.9]])]);
        new.max_iterations = 2;
        for task in new.tasks_mut() {
            task.samples = falls.tasks[0].samples.clone();
        }
        let data = leaderboard(vec![old, new]);
        let loose = GateRules {
            min_evoscore_delta: -1.0,
            ..GateRules::default()
        };
        assert_eq!(gate(&data, loose).decision, GateDecision::Pass);
        let strict = GateRules {
            max_zero_regression_drop: Some(0.1),
            ..loose
        };
        let report = gate(&data, strict);
        assert_eq!(report.decision, GateDecision::Fail);
        assert_eq!(report.bounds[1].test.difference, -1.0);
        assert!(report.reason.contains("the zero-regression rate"));
    }

    #[test]
    fn an_unfinished_run_is_decided_only_early() {
        let old = run("old", 20, |i| 0.3 + wave(i));
        let mut new = run("new", 14, |i| -0.4 + wave(i + 1));
        new.progress = Progress::Running;
        let data = leaderboard(vec![old, new]);
        let report = gate(&data, GateRules::default());
        assert_eq!(report.decision, GateDecision::Open);
        assert!(report.reason.contains("early"), "{}", report.reason);
        let early = GateRules {
            early: true,
            ..GateRules::default()
        };
        let report = gate(&data, early);
        assert_eq!(report.decision, GateDecision::Fail, "{report:?}");
        assert_eq!((report.tasks, report.repositories), (14, 14));
        assert_eq!(report.worst.len(), WORST_TASKS);
        assert!(
            report
                .worst
                .is_sorted_by(|a, b| a.difference <= b.difference)
        );
    }

    #[test]
    fn a_run_under_review_passes_no_gate() {
        let old = run("old", 20, |_| 0.3);
        let mut new = run("new", 20, |_| 0.9);
        new.unranked = Some(Unranked::HeldForReview { open: 1 });
        let mut data = leaderboard(vec![old]);
        data.unranked.push(new);
        let report = gate(&data, GateRules::default());
        assert_eq!(report.decision, GateDecision::Open);
        assert!(
            report.reason.contains("held for review"),
            "{}",
            report.reason
        );
    }

    #[test]
    fn rules_have_ranges() {
        let good = GateRules::default();
        assert_eq!(good.check(), Ok(()));
        let check = |rules: GateRules, name: &str| assert_eq!(rules.check().unwrap_err().0, name);
        check(GateRules { alpha: 0.0, ..good }, "alpha");
        check(
            GateRules {
                alpha: f64::NAN,
                ..good
            },
            "alpha",
        );
        check(
            GateRules {
                min_evoscore_delta: -3.0,
                ..good
            },
            "min_evoscore_delta",
        );
        let drop = GateRules {
            max_zero_regression_drop: Some(-0.1),
            ..good
        };
        check(drop, "max_zero_regression_drop");
    }

    #[test]
    fn a_run_is_no_gate_for_itself() {
        let data = leaderboard(vec![run("old", 3, |_| 0.3)]);
        let gate = |candidate: &str| {
            let rules = GateRules::default();
            let report = data.gate("run-old", candidate, rules, Gamma::ONE, Convention::Paper);
            report.unwrap_err().to_string()
        };
        assert!(gate("run-old").contains("appears twice"));
        assert!(gate("run-x").contains("the run `run-x` is not on the leaderboard"));
    }
}
