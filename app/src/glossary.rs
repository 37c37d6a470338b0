//! The glossary: one list, from which the explanations beside words
//! ([`crate::components::Term`]) and the glossary of `/about` are built.
//! `docs/glossary.md` has the same entries.

#[derive(Debug, Clone, Copy)]
pub struct Chapter {
    pub title: &'static str,
    pub words: &'static [Word],
}

/// Makes [`Word`], [`CHAPTERS`] and [`Word::entry`] from one list.
macro_rules! glossary {
    ($($title:literal [$($word:ident($slug:literal, $name:literal, $definition:literal),)+])+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Word {
            $($($word,)+)+
        }

        /// All words, from tasks to results.
        pub const CHAPTERS: &[Chapter] = &[
            $(Chapter { title: $title, words: &[$(Word::$word),+] },)+
        ];

        impl Word {
            /// Its slug, its name, and its definition.
            fn entry(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $($(Self::$word => ($slug, $name, $definition),)+)+
                }
            }
        }
    };
}

glossary! {
    "Tasks" [
        Task("task", "task",
            "Two commits of a repository, the tests of the later one, and an image to run them in."),
        Revision("revision", "revision",
            "A task as its content makes it: base, target, suite, image, test command. Imported with other content, the same name is another revision. A split lists one of them."),
        Split("split", "split",
            "A named list of tasks. Runs are ranked within a split."),
        Base("base", "base",
            "The code an evolution starts from."),
        Target("target", "target",
            "The later code that an evolution works towards. Its tests decide what works. Also called the oracle."),
        Oracle("oracle", "oracle",
            "The target and its tests, used for grading. Agents never see it."),
        TargetTests("target-tests", "target tests",
            "The tests that pass on the target, called T in formulas. Only these count in the paper convention."),
        Gap("gap", "gap",
            "The target tests that the current code does not pass."),
        Unseen("unseen-tasks", "unseen tasks",
            "Tasks whose target was committed after a model's training data ends, or after its release if that is not known, so its training data cannot contain them."),
    ]
    "Runs" [
        Run("run", "run",
            "One model configuration, applied to the tasks of a split."),
        Evolution("evolution", "evolution",
            "One pass of a run over one task: the base, then the code after each iteration."),
        Sample("sample", "sample",
            "One of several evolutions of the same task in one run. Samples differ by chance alone."),
        Iteration("iteration", "iteration",
            "One round: the architect writes requirements, the programmer changes the code, and the tests run."),
        IterationsUsed("iterations-used", "iterations used",
            "How many iterations an evolution took. Few may mean it was solved early, or given up early."),
        Harness("harness", "harness",
            "The program that plays architect and programmer, using a model."),
        Requirements("requirement-document", "requirement document",
            "The architect's instructions to the programmer: one to five requirements, and no code."),
        Mode("mode", "mode",
            "The basis of the programmer's work. In tdd the programmer has the requirements and the tests; in rdd the requirements alone. Runs of different modes are never ranked together."),
        Handover("handover", "handover",
            "A run that goes on with the code another run wrote, towards the same target. It shows how well that code can be maintained, and is not ranked with other runs."),
        Provider("provider", "provider",
            "The service that answers requests to a model over the network, paid or free."),
        Endpoint("endpoint", "endpoint",
            "How a run reaches its model: the provider's address, the model's name there, and the name of the key."),
        Gateway("gateway", "gateway",
            "The proxy between an agent and its model. It holds the key, counts usage and records every exchange."),
        Trajectory("trajectory", "trajectory",
            "Everything an agent and its model exchanged in one step. It can be read and replayed."),
        Budget("budget", "budget",
            "The most a run may use: tokens, money, requests, time. Once it is spent, no new work starts, and unfinished evolutions are not scored. The budget of an evolution is a limit of the task like its time: the evolution is scored with what it reached."),
        Tokens("tokens", "tokens",
            "The amount of text a model read and wrote, as its provider counts it."),
        Cost("cost", "cost",
            "The price of a run's tokens in US dollars, at the prices recorded with the run. Imported results have none."),
        PerTask("cost-per-task", "cost per task",
            "The tokens or dollars of one evolution, on average over the scored ones."),
        ClosedTest("cost-per-test", "cost per closed test",
            "The tokens or dollars of all scored evolutions, divided by the tests they closed: those that pass in the end beyond those the base passes."),
        AgentTime("agent-time", "agent time",
            "How long the agents of an iteration work, without the time they wait for their provider. Only runs that this site carried out with a model have it."),
        WallTime("wall-time", "wall time",
            "How long an iteration takes: its agents, their waiting, all attempts, and its tests. Only runs that this site carried out with a model have it."),
        Human("human-baseline", "human baseline",
            "The run that replays what the maintainers actually did, through the same loop and grading."),
        Imported("imported-run", "imported run",
            "A run made elsewhere and scored here from its files. Its tests did not run here."),
        CountsOnly("counts-only", "counts only",
            "Imported without the names of tests, and so scored in the reference convention only."),
        Published("published-row", "published row",
            "A figure taken from a publication. It is shown beside the ranking, never in it."),
        Verified("verified", "verified",
            "An administrator confirms this result: its tests were run again here on the stored code and gave the recorded outcomes."),
        SelfReported("self-reported", "self-reported",
            "Made elsewhere and reported by its author. Its tests have not been run again here."),
        Regraded("regraded", "graded again",
            "A run that grades the stored code of another one with the suites and the grading of a later day. It has no rank while the other one stands on the same tasks."),
    ]
    "Scores" [
        Change("normalized-change", "normalized change",
            "How far the code has come after an iteration: 1 is the target, 0 is the base, −1 means that no test passes."),
        EvoScore("evoscore", "EvoScore",
            "The mean normalized change over all iterations, each weighing γ times the one before, averaged over all tasks; −1 to 1."),
        Gamma("gamma", "γ",
            "The weight of an iteration relative to the one before it. At 1 all weigh the same; above 1 the score favours where an agent ends up."),
        Regression("regression", "regression",
            "An iteration that breaks tests which passed on the last scored code."),
        Rate("regression-rate", "regression rate",
            "Of the tasks that reach an iteration, the share that break something in it."),
        Magnitude("regression-magnitude", "regression magnitude",
            "When an iteration breaks something, the share of passing tests that it loses."),
        ZeroRegression("zero-regression-rate", "zero-regression rate",
            "The share of tasks in which no iteration ever broke a passing test."),
        NetZeroRegression("net-zero-regression-rate", "net zero-regression rate",
            "The share of tasks in which the number of passing tests never fell; newly passing tests can offset broken ones."),
        Recovery("recovery-time", "recovery time",
            "The number of iterations until every test that one iteration broke passes again, averaged over the repaired regressions."),
        Best("best-change", "best change so far",
            "The highest normalized change an evolution has reached up to an iteration."),
        Solved("solved", "solved",
            "An evolution that ends with every target test passing. As a rate, the share of tasks that end this way."),
        Zrr("zero-regression-resolution", "zero-regression resolution",
            "ZRR: the share of tasks that a run solved without ever breaking a passing test."),
        PassAt("pass-at-k", "pass@k",
            "How probably at least one of k samples of a task succeeds, estimated without bias from the samples there are, averaged over tasks."),
        PassHat("pass-hat-k", "pass^k",
            "How probably all of k samples of a task succeed, estimated without bias from the samples there are, averaged over tasks."),
        Generalisation("generalisation", "generalisation",
            "How far code does what the tests mean beyond what they say: where a test compares a call with a constant, the share of slightly changed inputs to which the last code answers as the oracle does. Only calls that the base answers wrongly and this code rightly count. Each function weighs the same; a run has the mean over its tasks."),
        Maintainability("maintainability-index", "maintainability index",
            "MI, for the source of a version: how easy the code is to read, computed by radon from its length, branches, operators and comments; 0 to 100, higher is better. Wins are the solved tasks on which a run's code scores higher than the oracle's."),
        Pylint("pylint-score", "Pylint score",
            "Pylint's own score for the source of a version: 10 minus ten times the messages per statement, with errors counted five times; 0 to 10, higher is better. Wins are the solved tasks on which a run's code scores higher than the oracle's."),
        WinRate("win-rate", "win rate",
            "Of the tasks that a run solved and whose code was measured, the share on which its last code scores higher than the oracle's. Equal values are ties, lower ones are losses."),
        Erosion("erosion", "erosion",
            "How much harder the code became to work on than the maintainers' own: its cognitive complexity, duplicated lines, lines added per test gained, comments, unused code, broken public names and changed dependencies."),
        ChangedLines("changed-lines", "changed lines",
            "Lines of source added and deleted since the base, tests excluded, compared with those the oracle added and deleted."),
        Convention("convention", "convention",
            "How tests are counted. The paper convention looks at each target test; the reference convention looks at the total number that pass."),
        MetricVersion("metric-version", "metric version",
            "The version of the definitions used to count a run. Rows of different versions cannot be compared."),
    ]
    "Certainty" [
        Interval("interval", "95\u{a0}% interval",
            "The range in which a figure would mostly fall if the repositories were drawn again. It shows how certain the figure is."),
        Resample("resample", "resample",
            "A random draw, with replacement, of as many repositories as there are. Intervals come from 2,000 resamples."),
        RankInterval("rank-interval", "rank interval",
            "The range of ranks a row holds in 95\u{a0}% of the resamples, shown below or beside the rank."),
        TieGroup("tie-group", "tie group",
            "Neighbouring rows that the data cannot tell apart. Their difference may be luck."),
    ]
    "Outcomes" [
        Scored("scored", "scored",
            "Of an iteration: its tests ran to the end and produced a readable report. Of a task: it counts in the score."),
        Collapsed("collapsed", "collapsed",
            "Of an iteration: the code no longer runs, so no test passes. The next iteration starts from the last scored code."),
        Ending("ending", "ending",
            "Why an evolution is over: solved, iterations spent, nothing left to do, the agent gave up, its own budget or the run's was spent, cut short, blocked or cancelled."),
        Blocked("blocked", "blocked",
            "The platform or the model's provider failed repeatedly. The task is left out of the score; it never becomes a 0."),
        Finding("integrity-finding", "integrity finding",
            "Something the platform noticed about the way an iteration's tests came to their result. A note has no consequence; a suspicious one holds the run for review; tampering collapses the iteration."),
        Unranked("not-ranked", "not ranked",
            "A run that has scores and no rank: it has scores of fewer than 95\u{a0}% of the split's tasks, its budget ended evolutions, it asked for fewer iterations than the others, or a suspicious finding waits for a decision (the run is held for review) or was confirmed. It stands below the ranked rows, and no figure counts it."),
    ]
}

impl Word {
    /// In addresses: `/about#term-<slug>`.
    pub fn slug(self) -> &'static str {
        self.entry().0
    }

    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// A sentence or two.
    pub fn definition(self) -> &'static str {
        self.entry().2
    }

    /// The explanation for a row or column of this name.
    pub fn headed(name: &str) -> Option<Self> {
        Some(match name {
            "Rank" => Self::RankInterval,
            "EvoScore" => Self::EvoScore,
            "Zero regression" => Self::ZeroRegression,
            "Net zero regr." => Self::NetZeroRegression,
            "Solved" => Self::Solved,
            "ZRR" => Self::Zrr,
            "Iterations" => Self::IterationsUsed,
            "MI wins" => Self::Maintainability,
            "Pylint wins" => Self::Pylint,
            "Generalisation" => Self::Generalisation,
            "Tokens" => Self::Tokens,
            "Cost" => Self::Cost,
            "Cost/task" | "Cost per task" => Self::PerTask,
            "Cost/test" | "Cost per closed test" => Self::ClosedTest,
            "Agent time" => Self::AgentTime,
            "Wall time" => Self::WallTime,
            "Findings" => Self::Finding,
            "Tasks" => Self::Scored,
            "Recovery time" => Self::Recovery,
            _ => return None,
        })
    }

    /// The id of its explanation on a page.
    pub fn tip(self) -> String {
        format!("tip-{}", self.slug())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> impl Iterator<Item = Word> {
        CHAPTERS.iter().flat_map(|chapter| chapter.words).copied()
    }

    /// Readers of the code and of the site get the same definitions.
    #[test]
    fn the_document_says_the_same() {
        let document = include_str!("../../docs/glossary.md");
        let (_, shown) = document.split_once("## What readers see").unwrap();
        let (shown, _) = shown.split_once("\n## ").unwrap();
        let rows: Vec<&str> = shown.lines().filter(|l| l.starts_with("| **")).collect();
        let expect: Vec<String> = all()
            .map(|word| format!("| **{}** | {} |", word.name(), word.definition()))
            .collect();
        assert_eq!(
            rows, expect,
            "docs/glossary.md and app/src/glossary.rs differ"
        );
    }

    #[test]
    fn each_word_once() {
        let slugs: BTreeSet<&str> = all().map(Word::slug).collect();
        let names: BTreeSet<&str> = all().map(Word::name).collect();
        assert_eq!((slugs.len(), names.len()), (all().count(), all().count()));
        // Every word is in a chapter: the count matches the last one.
        assert_eq!(all().count(), Word::Unranked as usize + 1);
        for word in all() {
            let slug = word.slug();
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(slug.chars().all(plain), "{slug}");
            assert!(word.definition().ends_with('.'), "{slug}");
        }
    }
}
