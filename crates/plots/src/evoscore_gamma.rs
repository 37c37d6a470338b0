//! EvoScore against γ, a line per run: which agents keep code easy to change?

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::figures::{self, GammaPlane};
use swe_ci_views::leaderboard::LeaderboardData;

use crate::axes;
use crate::brush::MOST_NAMES;
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::labels::{self, End};
use crate::paint::{Paint, Theme};
use crate::series::{RunLook, Series};
use crate::ticks::score_ticks;
use crate::{Figure, GAMMA_MAX, GAMMA_MIN, Mark, Size};

/// Lines have a corner every this many hundredths of γ.
const CORNER: usize = 5;

/// The lines of a leaderboard in one convention. They do not depend on the
/// selected γ, so a page computes them once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curves(Vec<Curve>);

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
            let changes = is_drawn(&entry.run_id).then(|| figures::Curve::of(entry, convention));
            Some(Curve {
                run_id: entry.run_id.clone(),
                model: entry.model.clone(),
                look: series.of(index),
                changes: changes??,
            })
        });
        Self(curves.collect())
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
        Self(data.curves.iter().map(curve).collect())
    }

    /// The same lines in fewer digits, for sending.
    pub fn rounded(mut self) -> Self {
        for curve in &mut self.0 {
            curve.changes = curve.changes.rounded();
        }
        self
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Curve> {
        self.0.iter()
    }

    pub fn lowest(&self) -> Option<f64> {
        self.heights().min_by(f64::total_cmp)
    }

    fn range(&self) -> (f64, f64) {
        let (low, high) = self
            .heights()
            .fold((f64::INFINITY, -1.0_f64), |(low, high), score| {
                (low.min(score), high.max(score))
            });
        if !low.is_finite() {
            return (0.0, 1.0);
        }
        let middle = f64::midpoint(low, high);
        let half = ((high - low) * 0.58).max(0.06);
        ((middle - half).max(-1.04), (middle + half).min(1.04))
    }

    fn heights(&self) -> impl Iterator<Item = f64> {
        self.0
            .iter()
            .flat_map(Curve::points)
            .map(|(_, score)| score)
    }
}

impl Curve {
    /// The few numbers that give its score at every γ.
    pub fn changes(&self) -> &figures::Curve {
        &self.changes
    }

    fn at(&self, gamma: Gamma) -> f64 {
        self.changes.at(gamma)
    }

    fn points(&self) -> Vec<(f64, f64)> {
        let steps = (0..=150).step_by(CORNER).map(gamma_at);
        steps.map(|gamma| (gamma.get(), self.at(gamma))).collect()
    }

    fn end(&self) -> f64 {
        self.at(gamma_at(150))
    }
}

/// The γ at this many hundredths from the start of the control's range.
fn gamma_at(step: u32) -> Gamma {
    Gamma::new(f64::from(50 + step) / 100.0).unwrap_or(Gamma::ONE)
}

/// The picture, with a mark per run at the selected γ.
pub fn evoscore_gamma(curves: &Curves, gamma: Gamma, size: Size, theme: Theme) -> Figure {
    let frame = frame(curves, size);
    frame.draw(theme, summary(curves, gamma), |canvas| {
        draw_lines(canvas, &frame, curves, || {
            axes::cursor(canvas, &frame, gamma.get());
        });
        curves
            .iter()
            .map(|curve| mark(canvas, curve, gamma))
            .collect()
    })
}

/// The picture without its marks, and where they go: for a page that moves them
/// with γ. `gamma` is that of the description.
pub fn gamma_lines(curves: &Curves, gamma: Gamma, size: Size) -> (Figure, GammaPlane) {
    let frame = frame(curves, size);
    let figure = frame.draw(Theme::Page, summary(curves, gamma), |canvas| {
        draw_lines(canvas, &frame, curves, || ());
        Vec::new()
    });
    let margins = frame.margins;
    let plane = GammaPlane {
        width: size.width,
        height: size.height,
        left: f64::from(margins.left),
        right: f64::from(size.width - margins.right),
        top: f64::from(margins.top),
        bottom: f64::from(size.height - margins.bottom),
        low: *frame.y.start(),
        high: *frame.y.end(),
    };
    (figure, plane)
}

fn frame(curves: &Curves, size: Size) -> Frame {
    let (low, high) = curves.range();
    let right = if is_narrow(size) { 108 } else { 196 };
    Frame {
        size,
        margins: Margins::new(40, right, 46, 42),
        x: GAMMA_MIN..=GAMMA_MAX,
        y: low..=high,
    }
}

fn is_narrow(size: Size) -> bool {
    size.width < 500
}

/// Axes, lines and names; `cursor` comes between axes and lines.
fn draw_lines(canvas: &Canvas<'_>, frame: &Frame, curves: &Curves, cursor: impl FnOnce()) {
    draw_axes(canvas, frame, is_narrow(frame.size));
    if curves.0.is_empty() {
        let at = canvas.pixel(1.25, f64::midpoint(*frame.y.start(), *frame.y.end()));
        canvas.text("No run has a score yet", at, Anchor::Above, Paint::Muted);
        return;
    }
    cursor();
    // Those in colour lie over the grey ones.
    for featured in [false, true] {
        let lines = curves
            .iter()
            .filter(|curve| curve.look.featured == featured);
        let width = if featured { 2.25 } else { 1.25 };
        lines.for_each(|curve| canvas.line(&curve.points(), curve.look.line(), width));
    }
    names(canvas, frame, curves);
}

fn draw_axes(canvas: &Canvas<'_>, frame: &Frame, narrow: bool) {
    axes::values(canvas, frame, &score_ticks(frame.y.clone(), 5));
    axes::gammas(canvas, frame);
    axes::bottom(canvas, frame);
    axes::upright(canvas, "EvoScore");
    let title = match narrow {
        true => "γ",
        false => "γ: above 1, later iterations weigh more",
    };
    axes::along(canvas, frame, title, 26.0);
}

/// Names at the ends of the lines; only the best ones if space is short.
fn names(canvas: &Canvas<'_>, frame: &Frame, curves: &Curves) {
    let mut named: Vec<&Curve> = curves.iter().filter(|curve| curve.look.featured).collect();
    named.sort_by(|a, b| b.end().total_cmp(&a.end()));
    named.truncate(MOST_NAMES);
    let ends = named.into_iter().map(|curve| End {
        at: canvas.pixel(GAMMA_MAX, curve.end()),
        name: &curve.model,
        paint: curve.look.solid(),
    });
    let width = f64::from(frame.margins.right);
    labels::ends(canvas, frame, ends.collect(), width);
}

fn mark(canvas: &Canvas<'_>, curve: &Curve, gamma: Gamma) -> Mark {
    // A γ outside the picture is shown at its edge.
    let gamma = gamma.get().clamp(GAMMA_MIN, GAMMA_MAX);
    let at = (gamma, curve.at(Gamma::new(gamma).unwrap_or(Gamma::ONE)));
    let RunLook { number, featured } = curve.look;
    let radius = if featured { 5.0 } else { 3.0 };
    let solid = curve.look.solid();
    canvas.marker(canvas.pixel(at.0, at.1), number, radius, solid, true);
    let label = format!("{}: {}", curve.model, format::score(at.1));
    canvas.mark(at, number, label)
}

fn summary(curves: &Curves, gamma: Gamma) -> String {
    if curves.0.is_empty() {
        return "EvoScore against γ: no run has a score yet.".to_owned();
    }
    let mut best: Vec<&Curve> = curves.iter().collect();
    best.sort_by(|a, b| b.at(gamma).total_cmp(&a.at(gamma)));
    let scores = best.iter().take(5);
    let scores: Vec<String> = scores
        .map(|c| format!("{} {}", c.model, format::score(c.at(gamma))))
        .collect();
    let runs = format::count(u32::try_from(curves.0.len()).unwrap_or(u32::MAX), "run");
    format!(
        "EvoScore of {runs} for γ from 0.5 to 2. At γ {}: {}.",
        format::gamma(gamma),
        scores.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_well_formed, leaderboard};

    fn figure(models: &[(&str, &[f64])], gamma: f64, theme: Theme) -> Figure {
        let curves = lines(&leaderboard(models));
        evoscore_gamma(&curves, Gamma::new(gamma).unwrap(), Size::WIDE, theme)
    }

    fn lines(data: &LeaderboardData) -> Curves {
        let series = Series::all(1..=data.entries.len());
        Curves::of(data, Convention::Paper, &series, |_| true)
    }

    #[test]
    fn marks_stand_where_the_scores_are() {
        let figure = figure(
            &[("early", &[1.0, 0.0]), ("late", &[0.0, 1.0])],
            2.0,
            Theme::Page,
        );
        assert_well_formed(&figure.svg);
        let [early, late] = figure.marks.as_slice() else {
            panic!("{:?}", figure.marks)
        };
        assert!((late.y - 2.0 / 3.0).abs() < 1e-12 && (late.x - 2.0).abs() < 1e-12);
        assert_eq!(late.label, "late: 0.667");
        assert!(late.py < early.py, "a better score stands higher");
        assert!((late.px - early.px).abs() < 1e-9);
        assert!((0.0..=f64::from(Size::WIDE.height)).contains(&late.py));
        assert!(
            figure
                .summary
                .ends_with("At γ 2.00: late 0.667, early 0.333.")
        );
    }

    /// A page puts its own marks where the picture has them.
    #[test]
    fn the_plane_tells_where_marks_go() {
        let curves = lines(&leaderboard(&[("a", &[1.0, 0.0]), ("b", &[0.2, 0.9])]));
        for (gamma, size) in [(0.5, Size::WIDE), (1.37, Size::NARROW), (9.0, Size::WIDE)] {
            let gamma = Gamma::new(gamma).unwrap();
            let (lines, plane) = gamma_lines(&curves, gamma, size);
            assert!(lines.marks.is_empty());
            let figure = evoscore_gamma(&curves, gamma, size, Theme::Page);
            for mark in &figure.marks {
                assert!((plane.x(gamma) - mark.px).abs() < 0.3, "{mark:?} {plane:?}");
                assert!(
                    (plane.y(mark.y) - mark.py).abs() < 0.3,
                    "{mark:?} {plane:?}"
                );
            }
        }
    }

    #[test]
    fn equal_scores_meet_at_one() {
        let figure = figure(&[("a", &[1.0, 0.0]), ("b", &[0.0, 1.0])], 1.0, Theme::Page);
        assert!((figure.marks[0].py - figure.marks[1].py).abs() < 0.5);
    }

    #[test]
    fn names_are_text_not_markup() {
        let name = "<script>alert(1)</script>\" onload=\"x\u{7}";
        for theme in [Theme::Page, Theme::Paper] {
            let figure = figure(&[(name, &[0.5])], 1.0, theme);
            assert_well_formed(&figure.svg);
            assert!(!figure.svg.contains("<script"));
            assert!(!figure.svg.contains("\" onload"));
        }
    }

    #[test]
    fn nothing_to_show_is_said() {
        let figure = figure(&[], 1.0, Theme::Page);
        assert_well_formed(&figure.svg);
        assert!(figure.svg.contains("No run has a score yet") && figure.marks.is_empty());
    }

    #[test]
    fn a_page_has_variables_and_paper_has_colours() {
        let page = figure(&[("m", &[0.5])], 1.0, Theme::Page).svg;
        let paper = figure(&[("m", &[0.5])], 1.0, Theme::Paper).svg;
        assert!(page.contains("var(--plot-") && !page.contains("#5E"));
        assert!(!paper.contains("var(") && !paper.contains("#5E"));
        assert!(!page.contains("style=") && !paper.contains("style="));
    }

    #[test]
    fn many_lines_keep_their_labels_apart() {
        let names: Vec<String> = (0..40).map(|i| format!("model {i}")).collect();
        let models: Vec<(&str, &[f64])> = names.iter().map(|n| (n.as_str(), &[0.5][..])).collect();
        let figure = figure(&models, 1.0, Theme::Page);
        assert_eq!(figure.marks.len(), 40);
        assert!(figure.svg.matches(">\nmodel").count() <= 12);
    }
}
