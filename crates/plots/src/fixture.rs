//! Small leaderboards and evolutions, public for the tests of the pages too.

use std::sync::Arc;

use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::{Convention, Gamma, Verdict};
use swe_ci_core::run::Progress;
use swe_ci_core::task::TaskId;
use swe_ci_views::leaderboard::{LeaderboardData, Published, PublishedRow, Ranking};
use swe_ci_views::style::{Beside, Erosion, StylePoint};
use swe_ci_views::view::{EvolutionView, IterationView};
use swe_ci_views::{figures, testing};

pub fn task_id(name: &str) -> TaskId {
    TaskId::new(name).expect("a plain name")
}

/// One task of one repository, one sample per model with these changes.
pub fn leaderboard(models: &[(&str, &[f64])]) -> LeaderboardData {
    let models: Vec<(&str, Vec<&[f64]>)> = models.iter().map(|(m, c)| (*m, vec![*c])).collect();
    leaderboard_of(&models)
}

/// Per model a task for each of these changes, each of a repository of its own.
pub fn leaderboard_of(models: &[(&str, Vec<&[f64]>)]) -> LeaderboardData {
    let runs = models.iter();
    let entries = runs.map(|(model, evolutions)| testing::spread_run(model, evolutions));
    LeaderboardData {
        published: published(),
        ..testing::leaderboard(entries.collect())
    }
}

/// Gives every evolution a style, by the numbers of its run and task.
pub fn styled(leaderboard: &mut LeaderboardData, style: impl Fn(usize, usize) -> Beside) {
    for (run, entry) in leaderboard.entries.iter_mut().enumerate() {
        *entry = testing::styled(entry.clone(), |task, _| Some(style(run, task)));
    }
}

/// A made-up style that grows worse over two iterations.
pub fn style(run: usize, task: usize) -> Beside {
    let (worse, lines) = (run as f64 + 1.0, 10 * (task as u32 + 1));
    let style = testing::beside([70.0 - worse, 70.0], [7.5, 7.0], [lines * 3, lines]);
    let half = StylePoint {
        mi: Some(70.0 - worse / 2.0),
        complexity: Some(3.5),
        erosion: Erosion {
            unused_code: Some(worse),
            ..Erosion::default()
        },
        ..style.own
    };
    let oracle = StylePoint {
        erosion: Erosion {
            unused_code: Some(1.0),
            ..Erosion::default()
        },
        ..style.oracle
    };
    Beside {
        oracle,
        course: vec![(1, half), (2, style.own)],
        ..style
    }
}

/// One published model, on another split than [`leaderboard`].
pub fn published() -> Published {
    Published {
        split: "default".into(),
        tasks: 100,
        source: "a paper, read off a figure".into(),
        evoscore_error: 0.003,
        rows: vec![PublishedRow {
            model: "Published model".into(),
            provider: "acme".into(),
            release_date: "2026-01-31".into(),
            evoscore: 0.47,
            zero_regression_rate: Some(0.37),
        }],
    }
}

/// The data of a figure of all runs in the paper's convention.
pub fn data(leaderboard: &LeaderboardData, which: figures::Figure, gamma: f64) -> figures::Data {
    which.data(&study(leaderboard, gamma))
}

/// All runs in the paper's convention.
pub fn study(leaderboard: &LeaderboardData, gamma: f64) -> figures::Study {
    let gamma = Gamma::new(gamma).expect("a γ within its range");
    let ranking = Ranking::new(Arc::new(leaderboard.clone()), gamma, Convention::Paper);
    figures::Study::of(&ranking, usize::MAX)
}

pub fn scored(in_target: u32, lost: u32) -> Verdict {
    Verdict::Scored {
        in_target,
        passed: in_target,
        lost,
    }
}

pub fn iteration(number: u32, verdict: Verdict) -> IterationView {
    IterationView {
        iteration: number,
        verdict,
        gained: 0,
        collapse: None,
        findings: Vec::new(),
        test_seconds: 0.5,
        finished_at: "2026-11-20T14:03:00Z".into(),
        contradicted: None,
    }
}

/// Base 10, target 20.
pub fn evolution(verdicts: &[Verdict]) -> EvolutionView {
    EvolutionView {
        evolution_id: "e1".into(),
        task_id: task_id("t"),
        sample: 1,
        progress: Progress::Running,
        ending: None,
        reason: None,
        suite: SuiteCounts {
            base_in_target: 10,
            target: 20,
            base_passed: 12,
            counts_only: false,
        },
        start: None,
        max_iterations: 20,
        started_at: None,
        finished_at: None,
        current: None,
        not_audited: None,
        iterations: (1..).zip(verdicts).map(|(n, v)| iteration(n, *v)).collect(),
    }
}

/// Every element is closed in order, no `&` or `<` stands by itself.
pub fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some((text, after)) = rest.split_once('<') {
        assert_text(text);
        let (tag, after) = after.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        assert!(!tag.contains('<'), "a tag in a tag: {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {xml}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
        rest = after;
    }
    assert_text(rest);
    assert!(open.is_empty(), "left open: {open:?}");
    assert!(xml.chars().all(|c| c == '\n' || !c.is_control()));
}

fn assert_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let entity = text[at..].split(';').next().unwrap_or_default();
        assert!(
            ["&lt", "&gt", "&amp", "&quot", "&apos"].contains(&entity),
            "{entity}"
        );
    }
}
