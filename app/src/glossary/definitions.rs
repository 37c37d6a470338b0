//! The name and definition of each word.

use super::Word;

impl Word {
    /// Its slug, its name, and its definition.
    pub(super) fn entry(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Task => (
                "task",
                "task",
                "Two commits of a repository, the tests of the later one, and an image to run them in.",
            ),
            Self::Split => (
                "split",
                "split",
                "A named list of tasks. Runs are ranked within a split.",
            ),
            Self::Base => ("base", "base", "The code an evolution starts from."),
            Self::Target => (
                "target",
                "target",
                "The later code that an evolution works towards. Its tests decide what works. Also called the oracle.",
            ),
            Self::Oracle => (
                "oracle",
                "oracle",
                "The target and its tests, used for grading. Agents never see it.",
            ),
            Self::TargetTests => (
                "target-tests",
                "target tests",
                "The tests that pass on the target, called T in formulas. Only these count in the paper convention.",
            ),
            Self::Gap => (
                "gap",
                "gap",
                "The target tests that the current code does not pass.",
            ),
            Self::Unseen => (
                "unseen-tasks",
                "unseen tasks",
                "Tasks whose target was committed after a model's release date, so its training data cannot contain them.",
            ),
            Self::Run => (
                "run",
                "run",
                "One model configuration, applied to the tasks of a split.",
            ),
            Self::Evolution => (
                "evolution",
                "evolution",
                "One pass of a run over one task: the base, then the code after each iteration.",
            ),
            Self::Iteration => (
                "iteration",
                "iteration",
                "One round: the architect writes requirements, the programmer changes the code, and the tests run.",
            ),
            Self::Turns => (
                "turns",
                "turns",
                "The number of iterations an evolution used. Few may mean it was solved early, or given up early.",
            ),
            Self::Harness => (
                "harness",
                "harness",
                "The program that plays architect and programmer, using a model.",
            ),
            Self::Requirements => (
                "requirement-document",
                "requirement document",
                "The architect's instructions to the programmer: one to five requirements, and no code.",
            ),
            Self::Provider => (
                "provider",
                "provider",
                "The service that answers requests to a model over the network, paid or free.",
            ),
            Self::Endpoint => (
                "endpoint",
                "endpoint",
                "How a run reaches its model: the provider's address, the model's name there, and the name of the key.",
            ),
            Self::Gateway => (
                "gateway",
                "gateway",
                "The proxy between an agent and its model. It holds the key, counts usage and records every exchange.",
            ),
            Self::Trajectory => (
                "trajectory",
                "trajectory",
                "Everything an agent and its model exchanged in one step. It can be read and replayed.",
            ),
            Self::Budget => (
                "budget",
                "budget",
                "The most a run may use: tokens, money, requests, time. Once it is spent, no new work starts, and unfinished evolutions are not scored.",
            ),
            Self::Tokens => (
                "tokens",
                "tokens",
                "The amount of text a model read and wrote, as its provider counts it.",
            ),
            Self::Cost => (
                "cost",
                "cost",
                "The price of a run's tokens in US dollars, at the prices recorded with the run. Imported results have none.",
            ),
            Self::Human => (
                "human-baseline",
                "human baseline",
                "The run that replays what the maintainers actually did, through the same loop and grading.",
            ),
            Self::Imported => (
                "imported-run",
                "imported run",
                "A run made elsewhere and scored here from its files. Its tests did not run here.",
            ),
            Self::Verified => (
                "verified",
                "verified",
                "An administrator confirms this result: its tests were run again here on the stored code and gave the recorded outcomes.",
            ),
            Self::SelfReported => (
                "self-reported",
                "self-reported",
                "Made elsewhere and reported by its author. Its tests have not been run again here.",
            ),
            Self::CountsOnly => (
                "counts-only",
                "counts only",
                "Imported without the names of tests, and so scored in the reference convention only.",
            ),
            Self::Published => (
                "published-row",
                "published row",
                "A figure taken from a publication. It is shown beside the ranking, never in it.",
            ),
            Self::Change => (
                "normalized-change",
                "normalized change",
                "How far the code has come after an iteration: 1 is the target, 0 is the base, −1 means that no test passes.",
            ),
            Self::EvoScore => (
                "evoscore",
                "EvoScore",
                "The mean normalized change over all iterations, each weighing γ times the one before, averaged over all tasks; −1 to 1.",
            ),
            Self::Gamma => (
                "gamma",
                "γ",
                "The weight of an iteration relative to the one before it. At 1 all weigh the same; above 1 the score favours where an agent ends up.",
            ),
            Self::Regression => (
                "regression",
                "regression",
                "An iteration that breaks tests which passed on the last scored code.",
            ),
            Self::Rate => (
                "regression-rate",
                "regression rate",
                "Of the tasks that reach an iteration, the share that break something in it.",
            ),
            Self::Magnitude => (
                "regression-magnitude",
                "regression magnitude",
                "When an iteration breaks something, the share of passing tests that it loses.",
            ),
            Self::ZeroRegression => (
                "zero-regression-rate",
                "zero-regression rate",
                "The share of tasks in which no iteration ever broke a passing test.",
            ),
            Self::NetZeroRegression => (
                "net-zero-regression-rate",
                "net zero-regression rate",
                "The share of tasks in which the number of passing tests never fell; newly passing tests can offset broken ones.",
            ),
            Self::Recovery => (
                "recovery-time",
                "recovery time",
                "The number of iterations until every test that one iteration broke passes again, averaged over the repaired regressions.",
            ),
            Self::Best => (
                "best-change",
                "best change so far",
                "The highest normalized change an evolution has reached up to an iteration.",
            ),
            Self::Solved => (
                "solved",
                "solved",
                "An evolution that ends with every target test passing. As a rate, the share of tasks that end this way.",
            ),
            Self::Maintainability => (
                "maintainability-index",
                "maintainability index",
                "MI, for the source of a version: how easy the code is to read, computed by radon from its length, branches, operators and comments; 0 to 100, higher is better. Wins are the solved tasks on which a run's code scores higher than the oracle's.",
            ),
            Self::Pylint => (
                "pylint-score",
                "Pylint score",
                "Pylint's own score for the source of a version: 10 minus ten times the messages per statement, with errors counted five times; 0 to 10, higher is better. Wins are the solved tasks on which a run's code scores higher than the oracle's.",
            ),
            Self::WinRate => (
                "win-rate",
                "win rate",
                "Of the tasks that a run solved and whose code was measured, the share on which its last code scores higher than the oracle's. Equal values are ties, lower ones are losses.",
            ),
            Self::ChangedLines => (
                "changed-lines",
                "changed lines",
                "Lines of source added and deleted since the base, tests excluded, compared with those the oracle added and deleted.",
            ),
            Self::Convention => (
                "convention",
                "convention",
                "How tests are counted. The paper convention looks at each target test; the reference convention looks at the total number that pass.",
            ),
            Self::MetricVersion => (
                "metric-version",
                "metric version",
                "The version of the definitions used to count a run. Rows of different versions cannot be compared.",
            ),
            Self::Interval => (
                "interval",
                "95 % interval",
                "The range in which a figure would mostly fall if the repositories were drawn again. It shows how certain the figure is.",
            ),
            Self::Resample => (
                "resample",
                "resample",
                "A random draw, with replacement, of as many repositories as there are. Intervals come from 2,000 resamples.",
            ),
            Self::RankInterval => (
                "rank-interval",
                "rank interval",
                "The range of ranks a row holds in 95 % of the resamples, shown below or beside the rank.",
            ),
            Self::TieGroup => (
                "tie-group",
                "tie group",
                "Neighbouring rows that the data cannot tell apart. Their difference may be luck.",
            ),
            Self::Scored => (
                "scored",
                "scored",
                "Of an iteration: its tests ran to the end and produced a readable report. Of a task: it counts in the score.",
            ),
            Self::Collapsed => (
                "collapsed",
                "collapsed",
                "Of an iteration: the code no longer runs, so no test passes. The next iteration starts from the last scored code.",
            ),
            Self::Ending => (
                "ending",
                "ending",
                "Why an evolution is over: solved, iterations spent, nothing left to do, the agent gave up, the budget was spent, cut short, blocked or cancelled.",
            ),
            Self::Blocked => (
                "blocked",
                "blocked",
                "The platform or the model's provider failed repeatedly. The task is left out of the score; it never becomes a 0.",
            ),
            Self::Finding => (
                "integrity-finding",
                "integrity finding",
                "An iteration changed something that controls the tests. It is shown with the result, for readers to judge.",
            ),
        }
    }
}
