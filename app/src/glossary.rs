//! The glossary: the words of `docs/glossary.md`, from which the explanations beside
//! words ([`crate::components::Term`]) and the glossary of `/about` are built.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Definitions by name, from the rows of the document.
static DEFINITIONS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = include_str!("../../docs/glossary.md").lines();
    let row = |row: &'static str| {
        row.strip_prefix("| **")?
            .strip_suffix(" |")?
            .split_once("** | ")
    };
    rows.filter_map(row).collect()
});

#[derive(Debug, Clone, Copy)]
pub struct Chapter {
    pub title: &'static str,
    pub words: &'static [Word],
}

/// Makes [`Word`], [`CHAPTERS`] and [`Word::entry`] from one list.
macro_rules! glossary {
    ($($title:literal [$($word:ident($slug:literal, $name:literal),)+])+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Word {
            $($($word,)+)+
        }

        /// All words, from tasks to results.
        pub const CHAPTERS: &[Chapter] = &[
            $(Chapter { title: $title, words: &[$(Word::$word),+] },)+
        ];

        impl Word {
            /// Its slug, and its name.
            fn entry(self) -> (&'static str, &'static str) {
                match self {
                    $($(Self::$word => ($slug, $name),)+)+
                }
            }
        }
    };
}

glossary! {
    "Tasks" [
        Task("task", "task"),
        Revision("revision", "revision"),
        Split("split", "split"),
        Base("base", "base"),
        Target("target", "target"),
        Oracle("oracle", "oracle"),
        TargetTests("target-tests", "target tests"),
        Gap("gap", "gap"),
        Unseen("unseen-tasks", "unseen tasks"),
    ]
    "Runs" [
        Run("run", "run"),
        Evolution("evolution", "evolution"),
        Sample("sample", "sample"),
        Iteration("iteration", "iteration"),
        IterationsUsed("iterations-used", "iterations used"),
        Harness("harness", "harness"),
        Requirements("requirement-document", "requirement document"),
        Mode("mode", "mode"),
        Arm("arm", "arm"),
        Handover("handover", "handover"),
        Provider("provider", "provider"),
        Endpoint("endpoint", "endpoint"),
        Gateway("gateway", "gateway"),
        Trajectory("trajectory", "trajectory"),
        Budget("budget", "budget"),
        Tokens("tokens", "tokens"),
        Cost("cost", "cost"),
        PerTask("cost-per-task", "cost per task"),
        ClosedTest("cost-per-test", "cost per closed test"),
        AgentTime("agent-time", "agent time"),
        WallTime("wall-time", "wall time"),
        Human("human-baseline", "human baseline"),
        Imported("imported-run", "imported run"),
        CountsOnly("counts-only", "counts only"),
        Published("published-row", "published row"),
        Verified("verified", "verified"),
        SelfReported("self-reported", "self-reported"),
        Regraded("regraded", "graded again"),
    ]
    "Scores" [
        Change("normalized-change", "normalized change"),
        EvoScore("evoscore", "EvoScore"),
        Gamma("gamma", "γ"),
        Regression("regression", "regression"),
        Rate("regression-rate", "regression rate"),
        Magnitude("regression-magnitude", "regression magnitude"),
        ZeroRegression("zero-regression-rate", "zero-regression rate"),
        NetZeroRegression("net-zero-regression-rate", "net zero-regression rate"),
        Recovery("recovery-time", "recovery time"),
        Best("best-change", "best change so far"),
        Solved("solved", "solved"),
        Zrr("zero-regression-resolution", "zero-regression resolution"),
        PassAt("pass-at-k", "pass@k"),
        PassHat("pass-hat-k", "pass^k"),
        Generalisation("generalisation", "generalisation"),
        CheatingRate("cheating-rate", "cheating rate"),
        Maintainability("maintainability-index", "maintainability index"),
        Pylint("pylint-score", "Pylint score"),
        WinRate("win-rate", "win rate"),
        Erosion("erosion", "erosion"),
        ChangedLines("changed-lines", "changed lines"),
        Convention("convention", "convention"),
        MetricVersion("metric-version", "metric version"),
    ]
    "Certainty" [
        Interval("interval", "95\u{a0}% interval"),
        Resample("resample", "resample"),
        RankInterval("rank-interval", "rank interval"),
        TieGroup("tie-group", "tie group"),
    ]
    "Outcomes" [
        Scored("scored", "scored"),
        Collapsed("collapsed", "collapsed"),
        Ending("ending", "ending"),
        Blocked("blocked", "blocked"),
        Finding("integrity-finding", "integrity finding"),
        Unranked("not-ranked", "not ranked"),
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
        DEFINITIONS.get(self.name()).copied().unwrap_or_default()
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

    #[test]
    fn the_document_has_these_words() {
        let document = include_str!("../../docs/glossary.md");
        let (_, shown) = document.split_once("## What readers see").unwrap();
        let (shown, _) = shown.split_once("\n## ").unwrap();
        let names = shown
            .split("| **")
            .skip(1)
            .filter_map(|row| row.split("**").next());
        let expect: Vec<&str> = all().map(Word::name).collect();
        assert_eq!(
            names.collect::<Vec<_>>(),
            expect,
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
