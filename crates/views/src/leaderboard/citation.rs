//! Leaderboards, figures and snapshots as sources to cite.

use super::export::Basis;

/// A view of a leaderboard as a citable source.
#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    pub cited: Cited,
    pub basis: Basis,
    /// The URL of exactly this view.
    pub address: String,
    pub runs: usize,
    pub tasks: usize,
    pub metric_version: u32,
    /// Of this program, for the present.
    pub platform_version: &'static str,
}

/// The paper that the benchmark is from.
pub const PAPER: &str = "@misc{chen2026sweci,
  title = {{SWE-CI}: Evaluating Agent Capabilities in Maintaining Codebases via Continuous Integration},
  author = {Chen, Jialong and Xu, Xander and Wei, Hu and Chen, Chuan and Zhao, Bing},
  year = {2026},
  eprint = {2603.03823},
  archivePrefix = {arXiv},
  primaryClass = {cs.SE},
  url = {https://arxiv.org/abs/2603.03823}
}";

/// The page that is cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cited {
    Leaderboard,
    /// A figure, by its name and title.
    Figure(&'static str, &'static str),
}

impl Cited {
    fn title(self) -> String {
        match self {
            Self::Leaderboard => "leaderboard".to_owned(),
            Self::Figure(_, title) => format!("figure “{}”", title.trim_end_matches('?')),
        }
    }

    fn key(self) -> String {
        match self {
            Self::Leaderboard => String::new(),
            Self::Figure(name, _) => format!("{name}-"),
        }
    }
}

impl Citation {
    /// Plain sentences for a bibliography.
    pub fn plain(&self) -> String {
        format!(
            "SWE-CI {}, {}split {}, γ = {:.2}, {} convention{}. {}. {}, seen {}.",
            self.cited.title(),
            self.frozen(),
            self.basis.split,
            self.basis.gamma.get(),
            self.basis.convention.name(),
            self.unseen(),
            self.size(&format!(", {}", self.versions())),
            self.address,
            self.basis.made_on,
        )
    }

    pub fn bibtex(&self) -> String {
        let Basis {
            split,
            gamma,
            convention,
            made_on,
            ..
        } = &self.basis;
        let date = match self.basis.snapshot_day() {
            "" => made_on,
            day => day,
        };
        let year = date.get(..4).unwrap_or_default();
        format!(
            "@misc{{sweci-{split}-{key}{date},\n  \
             author = {{{{{author}}}}},\n  \
             title = {{{{SWE-CI}} {title}, {frozen}split {named}, $\\gamma = {gamma:.2}$, {convention} convention{unseen}}},\n  \
             year = {{{year}}},\n  \
             version = {{{versions}}},\n  \
             note = {{{size}}},\n  \
             url = {{{address}}},\n  \
             urldate = {{{made_on}}}\n}}",
            key = self.cited.key(),
            author = self.author(),
            // A TeX file may not have the letter.
            title = self.cited.title().replace('γ', "$\\gamma$"),
            frozen = self.frozen(),
            named = split.replace('_', "\\_"),
            gamma = gamma.get(),
            convention = convention.name(),
            unseen = self.unseen(),
            versions = self.versions(),
            size = self.size(""),
            address = self.address,
        )
    }

    /// "swe-ci at bench.example.org".
    fn author(&self) -> String {
        let host = self.address.split_once("://");
        let host = host.and_then(|(_, rest)| rest.split('/').next());
        host.map_or("swe-ci".to_owned(), |host| format!("swe-ci at {host}"))
    }

    /// "snapshot of 2026-11-27, ".
    fn frozen(&self) -> String {
        match self.basis.snapshot_day() {
            "" => String::new(),
            day => format!("snapshot of {day}, "),
        }
    }

    fn versions(&self) -> String {
        let snapshot = self.basis.snapshot.as_ref();
        let platform = snapshot.map_or(self.platform_version, |of| of.platform_version.as_str());
        format!("metric {}, platform {platform}", self.metric_version)
    }

    fn unseen(&self) -> &'static str {
        if self.basis.unseen {
            ", tasks younger than the model"
        } else {
            ""
        }
    }

    /// "12 runs on 100 tasks", more, and the digest of a snapshot.
    fn size(&self, more: &str) -> String {
        let many = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let (runs, tasks) = (many(self.runs, "run"), many(self.tasks, "task"));
        let digest = self.basis.snapshot.as_ref();
        let digest = digest.map(|snapshot| format!(", SHA-256 {}", snapshot.digest));
        format!("{runs} on {tasks}{more}{}", digest.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::Snapshot;
    use swe_ci_core::metrics::{Convention, Gamma};

    fn basis() -> Basis {
        Basis {
            split: "a_b".into(),
            gamma: Gamma::new(1.5).unwrap(),
            convention: Convention::Paper,
            unseen: false,
            made_on: "2026-11-20".into(),
            snapshot: None,
        }
    }

    #[test]
    fn a_source() {
        let source = Citation {
            cited: Cited::Leaderboard,
            basis: basis(),
            address: "https://host/?gamma=1.50".into(),
            runs: 1,
            tasks: 100,
            metric_version: 1,
            platform_version: "0.1.0",
        };
        assert_eq!(
            source.plain(),
            "SWE-CI leaderboard, split a_b, γ = 1.50, paper convention. 1 run on 100 tasks, \
             metric 1, platform 0.1.0. https://host/?gamma=1.50, seen 2026-11-20."
        );
        assert_eq!(
            source.bibtex(),
            "@misc{sweci-a_b-2026-11-20,\n  \
             author = {{swe-ci at host}},\n  \
             title = {{SWE-CI} leaderboard, split a\\_b, $\\gamma = 1.50$, paper convention},\n  \
             year = {2026},\n  version = {metric 1, platform 0.1.0},\n  \
             note = {1 run on 100 tasks},\n  \
             url = {https://host/?gamma=1.50},\n  urldate = {2026-11-20}\n}"
        );
        let figure = Citation {
            cited: Cited::Figure("rank-by-gamma", "Rank against γ"),
            ..source
        };
        let plain = "SWE-CI figure “Rank against γ”, split a_b, γ = 1.50,";
        assert!(figure.plain().starts_with(plain), "{}", figure.plain());
        let bibtex = figure.bibtex();
        assert!(bibtex.starts_with("@misc{sweci-a_b-rank-by-gamma-2026-11-20,"));
        assert!(
            bibtex.contains("{{SWE-CI} figure “Rank against $\\gamma$”, split a\\_b,"),
            "{bibtex}"
        );
    }

    #[test]
    fn a_snapshot_as_a_source() {
        let snapshot = Snapshot {
            split: "s".into(),
            day: "2026-11-07".into(),
            digest: "ab12".into(),
            platform_version: "0.0.9".into(),
            ..Snapshot::default()
        };
        let source = Citation {
            cited: Cited::Leaderboard,
            address: snapshot.path(),
            basis: Basis {
                snapshot: Some(snapshot),
                ..basis()
            },
            runs: 2,
            tasks: 1,
            metric_version: 1,
            platform_version: "0.1.0",
        };
        let plain = source.plain();
        for part in [
            "leaderboard, snapshot of 2026-11-07, split",
            "2 runs on 1 task, metric 1, platform 0.0.9, SHA-256 ab12. /snapshots/2026-11-07?split=s, seen 2026-11-20.",
        ] {
            assert!(plain.contains(part), "{plain}");
        }
        let bibtex = source.bibtex();
        for part in [
            "@misc{sweci-a_b-2026-11-07,",
            "author = {{swe-ci}}",
            "note = {2 runs on 1 task, SHA-256 ab12}",
            "url = {/snapshots/2026-11-07?split=s}",
            "urldate = {2026-11-20}",
        ] {
            assert!(bibtex.contains(part), "{bibtex}");
        }
    }
}
