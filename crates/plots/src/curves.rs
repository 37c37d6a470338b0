//! The lines of EvoScore against γ: a run's score at every γ, or its difference
//! from the leader's.

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Kind;
use swe_ci_views::figures;
use swe_ci_views::leaderboard::LeaderboardData;

use crate::series::{RunLook, Series};

/// Lines have a corner every this many hundredths of γ.
const CORNER: usize = 5;

/// The lines of a leaderboard in one convention. The scores do not depend on the
/// selected γ, so a page computes them once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curves {
    curves: Vec<Curve>,
    /// The index of the run whose score is subtracted from all.
    leader: Option<usize>,
    /// The runs without a line of their own, at every γ with a corner.
    others: Option<figures::Others>,
}

type Points = Vec<(f64, f64)>;

#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub run_id: String,
    pub model: String,
    pub look: RunLook,
    changes: figures::Curve,
}

impl Curves {
    /// The lines of the runs that are drawn.
    pub fn of(
        data: &LeaderboardData,
        convention: Convention,
        series: &Series,
        is_drawn: impl Fn(&str) -> bool,
    ) -> Self {
        let entries = data.entries.iter().enumerate();
        let curves = entries.filter_map(|(index, entry)| {
            let changes = is_drawn(&entry.run_id).then(|| entry.curve(convention));
            Some(Curve {
                run_id: entry.run_id.clone(),
                model: entry.model.clone(),
                look: series.of(index),
                changes: changes??,
            })
        });
        Self {
            curves: curves.collect(),
            leader: None,
            others: None,
        }
    }

    /// Draws the differences from this run's score.
    #[must_use]
    pub fn from(mut self, leader: &str) -> Self {
        self.leader = self.curves.iter().position(|curve| curve.run_id == leader);
        self
    }

    /// The curves of a figure; `look` is how each run looks.
    pub(crate) fn of_figure(
        data: &figures::Curves,
        look: impl Fn(&figures::Subject) -> RunLook,
    ) -> Self {
        let curve = |line: &figures::ScoredCurve| Curve {
            run_id: line.run.run_id.clone(),
            model: line.run.model.clone(),
            look: look(&line.run),
            changes: line.curve.clone(),
        };
        let is_human = |line: &figures::ScoredCurve| line.run.kind == Kind::Human;
        let leader = || data.curves.iter().position(|line| !is_human(line));
        Self {
            curves: data.curves.iter().map(curve).collect(),
            leader: data.from_leader.then(|| leader().unwrap_or(0)),
            others: data.others.clone(),
        }
    }

    /// The same lines in fewer digits, for sending.
    pub fn rounded(mut self) -> Self {
        for curve in &mut self.curves {
            curve.changes = curve.changes.rounded();
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.curves.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Curve> {
        self.curves.iter()
    }

    /// The lowest score of any run at any γ of the chart.
    pub fn lowest(&self) -> Option<f64> {
        let scores = self
            .iter()
            .flat_map(|curve| gammas().map(|gamma| curve.at(gamma)));
        scores.min_by(f64::total_cmp)
    }

    pub(crate) fn leader(&self) -> Option<&Curve> {
        self.curves.get(self.leader?)
    }

    /// The height of a run's line: its score, or the difference from the leader's.
    pub(crate) fn height(&self, curve: &Curve, gamma: Gamma) -> f64 {
        curve.at(gamma) - self.leader().map_or(0.0, |leader| leader.at(gamma))
    }

    pub(crate) fn points(&self, curve: &Curve) -> Points {
        let points = gammas().map(|gamma| (gamma.get(), self.height(curve, gamma)));
        points.collect()
    }

    pub(crate) fn end(&self, curve: &Curve) -> f64 {
        self.height(curve, gamma_at(150))
    }

    pub(crate) fn others(&self) -> Option<&figures::Others> {
        self.others.as_ref()
    }

    /// Of the other runs: below most, the median, above most.
    pub(crate) fn middles(&self) -> Option<(Points, Points, Points)> {
        let others = self.others.as_ref()?;
        let points = |value: fn(&figures::Middle) -> f64| {
            let at_all = gammas().zip(&others.middles);
            let point = |(gamma, middle): (Gamma, &figures::Middle)| {
                let from = self.leader().map_or(0.0, |leader| leader.at(gamma));
                (gamma.get(), value(middle) - from)
            };
            at_all.map(point).collect()
        };
        Some((
            points(|middle| middle.most.low),
            points(|middle| middle.median),
            points(|middle| middle.most.high),
        ))
    }

    pub(crate) fn range(&self) -> (f64, f64) {
        let heights = self.iter().flat_map(|curve| self.points(curve));
        let of_others = self.middles().into_iter();
        let heights = heights.chain(of_others.flat_map(|(low, _, high)| [low, high].concat()));
        let (low, high) = heights.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(low, high), (_, height)| (low.min(height), high.max(height)),
        );
        if !low.is_finite() {
            return (0.0, 1.0);
        }
        let middle = f64::midpoint(low, high);
        let half = ((high - low) * 0.58).max(0.06);
        // No score is beyond 1; two are at most 2 apart.
        let most = if self.leader.is_some() { 2.04 } else { 1.04 };
        ((middle - half).max(-most), (middle + half).min(most))
    }
}

impl Curve {
    /// The few numbers that give its score at every γ.
    pub fn changes(&self) -> &figures::Curve {
        &self.changes
    }

    pub(crate) fn at(&self, gamma: Gamma) -> f64 {
        self.changes.at(gamma)
    }
}

/// Where lines have a corner.
fn gammas() -> impl Iterator<Item = Gamma> {
    (0..=150).step_by(CORNER).map(gamma_at)
}

/// The γ at this many hundredths from the start of the control's range.
fn gamma_at(step: u32) -> Gamma {
    Gamma::new(f64::from(50 + step) / 100.0).unwrap_or(Gamma::ONE)
}
