//! The glossary: one list, from which the explanations beside words
//! ([`crate::components::Term`]) and the glossary of `/about` are built.
//! `docs/glossary.md` has the same entries.

mod definitions;

/// A word of the glossary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Task,
    Split,
    Base,
    Target,
    Oracle,
    TargetTests,
    Gap,
    Unseen,
    Run,
    Evolution,
    Iteration,
    Turns,
    Harness,
    Requirements,
    Provider,
    Endpoint,
    Gateway,
    Trajectory,
    Budget,
    Tokens,
    Cost,
    Human,
    Imported,
    CountsOnly,
    Published,
    Verified,
    SelfReported,
    Change,
    EvoScore,
    Gamma,
    Regression,
    Rate,
    Magnitude,
    ZeroRegression,
    NetZeroRegression,
    Recovery,
    Best,
    Solved,
    Maintainability,
    Pylint,
    WinRate,
    ChangedLines,
    Convention,
    MetricVersion,
    Interval,
    Resample,
    RankInterval,
    TieGroup,
    Scored,
    Collapsed,
    Ending,
    Blocked,
    Finding,
}

/// Words that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Chapter {
    pub title: &'static str,
    pub words: &'static [Word],
}

/// All words, from tasks to results.
pub const CHAPTERS: [Chapter; 5] = [
    Chapter {
        title: "Tasks",
        words: &[
            Word::Task,
            Word::Split,
            Word::Base,
            Word::Target,
            Word::Oracle,
            Word::TargetTests,
            Word::Gap,
            Word::Unseen,
        ],
    },
    Chapter {
        title: "Runs",
        words: &[
            Word::Run,
            Word::Evolution,
            Word::Iteration,
            Word::Turns,
            Word::Harness,
            Word::Requirements,
            Word::Provider,
            Word::Endpoint,
            Word::Gateway,
            Word::Trajectory,
            Word::Budget,
            Word::Tokens,
            Word::Cost,
            Word::Human,
            Word::Imported,
            Word::CountsOnly,
            Word::Published,
            Word::Verified,
            Word::SelfReported,
        ],
    },
    Chapter {
        title: "Scores",
        words: &[
            Word::Change,
            Word::EvoScore,
            Word::Gamma,
            Word::Regression,
            Word::Rate,
            Word::Magnitude,
            Word::ZeroRegression,
            Word::NetZeroRegression,
            Word::Recovery,
            Word::Best,
            Word::Solved,
            Word::Maintainability,
            Word::Pylint,
            Word::WinRate,
            Word::ChangedLines,
            Word::Convention,
            Word::MetricVersion,
        ],
    },
    Chapter {
        title: "Certainty",
        words: &[
            Word::Interval,
            Word::Resample,
            Word::RankInterval,
            Word::TieGroup,
        ],
    },
    Chapter {
        title: "Outcomes",
        words: &[
            Word::Scored,
            Word::Collapsed,
            Word::Ending,
            Word::Blocked,
            Word::Finding,
        ],
    },
];

impl Word {
    /// In addresses: `/about#term-<slug>`.
    #[must_use]
    pub fn slug(self) -> &'static str {
        self.entry().0
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// A sentence or two.
    #[must_use]
    pub fn definition(self) -> &'static str {
        self.entry().2
    }

    /// The explanation for a row or column of this name.
    #[must_use]
    pub fn headed(name: &str) -> Option<Self> {
        let word = match name {
            "Rank" => Self::RankInterval,
            "EvoScore" => Self::EvoScore,
            "Zero regression" => Self::ZeroRegression,
            "Net zero regr." => Self::NetZeroRegression,
            "Solved" => Self::Solved,
            "Turns" => Self::Turns,
            "MI wins" => Self::Maintainability,
            "Pylint wins" => Self::Pylint,
            "Tokens" => Self::Tokens,
            "Cost" => Self::Cost,
            "Findings" => Self::Finding,
            "Tasks" => Self::Scored,
            "Recovery time" => Self::Recovery,
            _ => return None,
        };
        Some(word)
    }

    /// The id of its explanation on a page.
    #[must_use]
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
        let document = include_str!("../../../docs/glossary.md");
        let (_, shown) = document.split_once("## What readers see").unwrap();
        let (shown, _) = shown.split_once("\n## ").unwrap();
        let rows: Vec<&str> = shown.lines().filter(|l| l.starts_with("| **")).collect();
        let expect: Vec<String> = all()
            .map(|word| format!("| **{}** | {} |", word.name(), word.definition()))
            .collect();
        assert_eq!(rows, expect, "docs/glossary.md and app/src/glossary differ");
    }

    #[test]
    fn each_word_once() {
        let slugs: BTreeSet<&str> = all().map(Word::slug).collect();
        let names: BTreeSet<&str> = all().map(Word::name).collect();
        assert_eq!((slugs.len(), names.len()), (all().count(), all().count()));
        // Every word is in a chapter: the count matches the last one.
        assert_eq!(all().count(), Word::Finding as usize + 1);
        for word in all() {
            let slug = word.slug();
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(slug.chars().all(plain), "{slug}");
            assert!(word.definition().ends_with('.'), "{slug}");
        }
    }
}
