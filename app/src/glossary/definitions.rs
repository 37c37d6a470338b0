//! What each word is called, and what it means.

use super::Word;

impl Word {
    /// Its slug, its name, and its definition.
    pub(super) fn entry(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Task => (
                "task",
                "task",
                "A repository at two moments of its history, the tests of the later one, and an image to run them in.",
            ),
            Self::Split => (
                "split",
                "split",
                "A named list of tasks; runs are ranked on the split they did.",
            ),
            Self::Base => ("base", "base", "The code an evolution starts from."),
            Self::Target => (
                "target",
                "target",
                "The later code an evolution is led towards. Its tests say what works; it is also called the oracle.",
            ),
            Self::Oracle => (
                "oracle",
                "oracle",
                "The target and its tests, which decide; agents never see it.",
            ),
            Self::TargetTests => (
                "target-tests",
                "target tests",
                "The tests the target passes, called T in formulas. In the paper convention only they count.",
            ),
            Self::Gap => (
                "gap",
                "gap",
                "The target tests that the code at hand does not pass.",
            ),
            Self::Unseen => (
                "unseen-tasks",
                "unseen tasks",
                "Tasks whose target was committed after the day a model was released, so that its training data cannot hold them.",
            ),
            Self::Run => (
                "run",
                "run",
                "One model configuration over all tasks of a split.",
            ),
            Self::Evolution => (
                "evolution",
                "evolution",
                "One task worked on once inside a run: the base, then the code after each iteration.",
            ),
            Self::Iteration => (
                "iteration",
                "iteration",
                "One round: the architect writes requirements, the programmer changes the code, the tests are run.",
            ),
            Self::Turns => (
                "turns",
                "turns",
                "How many iterations an evolution used; few may mean solved early, or given up early.",
            ),
            Self::Harness => (
                "harness",
                "harness",
                "The program that plays architect and programmer with a model.",
            ),
            Self::Requirements => (
                "requirement-document",
                "requirement document",
                "What the architect hands to the programmer: one to five requirements, and no code.",
            ),
            Self::Provider => (
                "provider",
                "provider",
                "Who runs a model and answers for it over the network, for money or not.",
            ),
            Self::Endpoint => (
                "endpoint",
                "endpoint",
                "Where a run asks its model: an address of the provider, the model's name there, the name of the key.",
            ),
            Self::Gateway => (
                "gateway",
                "gateway",
                "What stands between an agent and its model: it has the key, counts what is used and writes down what is said.",
            ),
            Self::Trajectory => (
                "trajectory",
                "trajectory",
                "All that an agent and its model said to each other in one step, to be read or heard again.",
            ),
            Self::Budget => (
                "budget",
                "budget",
                "The most a run may take: tokens, money, requests, time. When it is spent, nothing is begun any more, and what was not over is not scored.",
            ),
            Self::Tokens => (
                "tokens",
                "tokens",
                "What a model read and wrote, as its provider counts it.",
            ),
            Self::Cost => (
                "cost",
                "cost",
                "What the tokens of a run cost in US dollars, by the prices recorded with it; imported results have none.",
            ),
            Self::Human => (
                "human-baseline",
                "human baseline",
                "The run that replays what the maintainers really did, through the same loop and grading.",
            ),
            Self::Imported => (
                "imported-run",
                "imported run",
                "A run made elsewhere and scored here from its files; nobody here saw the tests run.",
            ),
            Self::Verified => (
                "verified",
                "verified",
                "An administrator says that this result stands: its tests were run again here on the code that was kept, and came out as recorded.",
            ),
            Self::SelfReported => (
                "self-reported",
                "self-reported",
                "Made elsewhere and told by whoever made it; nobody here has run its tests again.",
            ),
            Self::CountsOnly => (
                "counts-only",
                "counts only",
                "Imported without the names of tests, and so scored in the reference convention alone.",
            ),
            Self::Published => (
                "published-row",
                "published row",
                "A figure read off a publication. It is shown beside the ranking, never in it.",
            ),
            Self::Change => (
                "normalized-change",
                "normalized change",
                "How far the code is after an iteration: 1 is the target, 0 the base, −1 nothing left that passes.",
            ),
            Self::EvoScore => (
                "evoscore",
                "EvoScore",
                "The mean of the normalized change over all iterations, later ones weighing γ times the one before, over all tasks; −1 to 1.",
            ),
            Self::Gamma => (
                "gamma",
                "γ",
                "How much an iteration weighs against the one before it. At 1 all weigh the same; above 1 the score looks more at where an agent ends up.",
            ),
            Self::Regression => (
                "regression",
                "regression",
                "An iteration that breaks tests which passed on the last scored code.",
            ),
            Self::Rate => (
                "regression-rate",
                "regression rate",
                "Of the tasks that came to an iteration, the share that break something in it.",
            ),
            Self::Magnitude => (
                "regression-magnitude",
                "regression magnitude",
                "Where an iteration breaks something, the share of the passing tests that it loses.",
            ),
            Self::ZeroRegression => (
                "zero-regression-rate",
                "zero-regression rate",
                "The share of tasks in which no iteration ever broke a passing test.",
            ),
            Self::NetZeroRegression => (
                "net-zero-regression-rate",
                "net zero-regression rate",
                "The share of tasks in which the number of passing tests never fell; what breaks may be made up for.",
            ),
            Self::Recovery => (
                "recovery-time",
                "recovery time",
                "Iterations until all that one iteration broke passed again, on average over what was repaired.",
            ),
            Self::Best => (
                "best-change",
                "best change so far",
                "The highest normalized change an evolution has reached up to an iteration.",
            ),
            Self::Solved => (
                "solved",
                "solved",
                "An evolution at whose end every target test passes; as a rate, the share of tasks that end so.",
            ),
            Self::Maintainability => (
                "maintainability-index",
                "maintainability index",
                "MI, of the source of a version: how easy code is to read by its length, branches, operators and comments, as radon computes it; 0 to 100, more is better. Wins are the solved tasks on which a run's code has more than the oracle's.",
            ),
            Self::Pylint => (
                "pylint-score",
                "Pylint score",
                "Pylint's own mark for the source of a version: 10 less ten times what it finds for each statement, where errors count five times; 0 to 10, more is better. Wins are the solved tasks on which a run's code has more than the oracle's.",
            ),
            Self::WinRate => (
                "win-rate",
                "win rate",
                "Of the tasks a run solved and whose code was measured, the share on which its last code has a greater value than the oracle's; what is equal is a tie, what is smaller a loss.",
            ),
            Self::ChangedLines => (
                "changed-lines",
                "changed lines",
                "Lines of source added and deleted since the base, tests left out, beside those the oracle added and deleted.",
            ),
            Self::Convention => (
                "convention",
                "convention",
                "How tests are counted: the paper convention looks at each target test, the reference convention at how many pass in all.",
            ),
            Self::MetricVersion => (
                "metric-version",
                "metric version",
                "The definitions a run was counted by; rows of different versions do not compare.",
            ),
            Self::Interval => (
                "interval",
                "95 % interval",
                "Where a figure would mostly land with repositories drawn anew: how sure it is.",
            ),
            Self::Resample => (
                "resample",
                "resample",
                "As many repositories as there are, drawn with replacement. Intervals come from 2,000 such draws.",
            ),
            Self::RankInterval => (
                "rank-interval",
                "rank interval",
                "The ranks a row holds in 95 % of the resamples; it stands below or beside the rank itself.",
            ),
            Self::TieGroup => (
                "tie-group",
                "tie group",
                "Neighbouring rows that the data does not tell apart; the smaller number may be luck.",
            ),
            Self::Scored => (
                "scored",
                "scored",
                "Of an iteration: its tests ran to their end and could be read. Of a task: it counts in the score.",
            ),
            Self::Collapsed => (
                "collapsed",
                "collapsed",
                "Of an iteration: the code no longer runs, so no test passes. The next one starts from the last scored code.",
            ),
            Self::Ending => (
                "ending",
                "ending",
                "Why an evolution is over: solved, iterations spent, nothing left to do, the agent gave up, the budget was spent, cut short, blocked or cancelled.",
            ),
            Self::Blocked => (
                "blocked",
                "blocked",
                "The platform or the model's provider failed again and again. The task is left out of the score; it never becomes a 0.",
            ),
            Self::Finding => (
                "integrity-finding",
                "integrity finding",
                "An iteration changed something that steers the tests. It is shown with the result, for readers to judge.",
            ),
        }
    }
}
