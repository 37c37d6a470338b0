//! EvoScore against γ, a line per run: which agents keep code easy to change?

use swe_ci_core::metrics::Gamma;
use swe_ci_views::figures::{GammaPlane, MOST_RUNS, Others};

use crate::axes;
use crate::brush::height_of_names;
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::curves::{Curve, Curves};
use crate::format;
use crate::labels::{self, End};
use crate::marker::Filling;
use crate::paint::{Paint, Theme, shape};
use crate::series::RunLook;
use crate::ticks::{score_ticks, ticks};
use crate::{Figure, GAMMA_MAX, GAMMA_MIN, Mark, Size, text};

/// The picture, with a mark per run at the selected γ.
pub fn evoscore_gamma(curves: &Curves, gamma: Gamma, size: Size, theme: Theme) -> Figure {
    let frame = frame(curves, size);
    frame.draw(theme, summary(curves, gamma), |canvas| {
        draw_lines(canvas, &frame, curves, || {
            axes::cursor(canvas, &frame, gamma.get());
        });
        curves
            .iter()
            .map(|curve| mark(canvas, curves, curve, gamma))
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
    let (size, margins) = (frame.size, frame.margins);
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
    let names = height_of_names(named(curves).len());
    Frame {
        size: Size::of(size.width, size.height.max(86 + names)),
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
    if let Some((low, _, high)) = curves.middles() {
        canvas.band(&low, &high, Paint::Grid);
    }
    draw_axes(canvas, frame, curves);
    if curves.is_empty() {
        let at = canvas.pixel(1.25, f64::midpoint(*frame.y.start(), *frame.y.end()));
        canvas.text(
            "No run of the whole split has a score yet",
            at,
            Anchor::Above,
            Paint::Muted,
        );
        return;
    }
    cursor();
    if let Some((_, median, _)) = curves.middles() {
        canvas.line(&median, Paint::Muted, 1.5);
    }
    // Those in colour lie over the grey ones.
    for featured in [false, true] {
        let lines = curves
            .iter()
            .filter(|curve| curve.look.featured == featured);
        let width = if featured { 2.25 } else { 1.25 };
        lines.for_each(|curve| canvas.line(&curves.points(curve), curve.look.line(), width));
    }
    names(canvas, frame, curves);
}

fn draw_axes(canvas: &Canvas<'_>, frame: &Frame, curves: &Curves) {
    let (values, upright) = match curves.leader() {
        None => (score_ticks(frame.y.clone(), 5), "EvoScore".to_owned()),
        Some(leader) => (
            ticks(frame.y.clone(), 5),
            format!("EvoScore, difference from {}", leader.model),
        ),
    };
    axes::values(canvas, frame, &values);
    axes::gammas(canvas, frame);
    axes::bottom(canvas, frame);
    let room = f64::from(frame.size.width) - 2.0 * axes::EDGE;
    axes::upright(canvas, &text::line(&upright, room));
    let title = match is_narrow(frame.size) {
        true => "γ",
        false => "γ: above 1, later iterations weigh more",
    };
    axes::along(canvas, frame, title, 26.0);
}

/// The lines with names, the best at the right end first: those whose marks have a
/// colour.
fn named(curves: &Curves) -> Vec<&Curve> {
    let mut named: Vec<&Curve> = curves.iter().filter(|curve| curve.look.coloured).collect();
    named.sort_by(|a, b| curves.end(b).total_cmp(&curves.end(a)));
    named.truncate(MOST_RUNS);
    named
}

/// Names at the ends of the lines; only the best ones if space is short.
fn names(canvas: &Canvas<'_>, frame: &Frame, curves: &Curves) {
    let others = curves.others().map(Others::name);
    let of_others = others.as_ref().zip(curves.middles());
    let of_others = of_others.and_then(|(name, (_, median, _))| {
        let (gamma, height) = *median.last()?;
        Some(End {
            at: canvas.pixel(gamma, height),
            name,
            paint: Paint::Muted,
        })
    });
    let ends = named(curves).into_iter().map(|curve| End {
        at: canvas.pixel(GAMMA_MAX, curves.end(curve)),
        name: &curve.model,
        paint: curve.look.solid(),
    });
    let ends = of_others.into_iter().chain(ends);
    let width = f64::from(frame.margins.right);
    labels::ends(canvas, frame, ends.collect(), width);
}

fn mark(canvas: &Canvas<'_>, curves: &Curves, curve: &Curve, gamma: Gamma) -> Mark {
    // A γ outside the picture is shown at its edge.
    let gamma = Gamma::new(gamma.get().clamp(GAMMA_MIN, GAMMA_MAX)).unwrap_or(Gamma::ONE);
    let at = (gamma.get(), curves.height(curve, gamma));
    let RunLook {
        number, featured, ..
    } = curve.look;
    let radius = if featured { 5.0 } else { 3.0 };
    let (solid, filling) = (curve.look.solid(), Filling::of(number));
    let place = canvas.pixel(at.0, at.1);
    canvas.marker(place, shape(number), radius, solid, filling);
    let difference = curves.leader().map(|_| at.1);
    canvas.mark(at, number, label(&curve.model, curve.at(gamma), difference))
}

/// "m: 0.667", or "m: 0.667, −0.020 from the leader".
pub fn label(model: &str, score: f64, from_leader: Option<f64>) -> String {
    let score = format::score(score);
    match from_leader {
        None => format!("{model}: {score}"),
        Some(difference) => {
            let sign = if difference > 0.0 { "+" } else { "" };
            let difference = format::score(difference);
            format!("{model}: {score}, {sign}{difference} from the leader")
        }
    }
}

fn summary(curves: &Curves, gamma: Gamma) -> String {
    if curves.is_empty() {
        return "EvoScore against γ: no run of the whole split has a score yet.".to_owned();
    }
    let mut best: Vec<&Curve> = curves.iter().collect();
    best.sort_by(|a, b| b.at(gamma).total_cmp(&a.at(gamma)));
    let scores = best.iter().take(5);
    let scores: Vec<String> = scores
        .map(|c| format!("{} {}", c.model, format::score(c.at(gamma))))
        .collect();
    let runs = format::count(
        u32::try_from(curves.iter().count()).unwrap_or(u32::MAX),
        "run",
    );
    let what = match curves.leader() {
        None => "EvoScore of",
        Some(_) => "Difference from the leader's EvoScore of",
    };
    format!(
        "{what} {runs} for γ from 0.5 to 2. At γ {}: {}.",
        format::gamma(gamma),
        scores.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use swe_ci_core::metrics::Convention;
    use swe_ci_views::leaderboard::LeaderboardData;

    use super::*;
    use crate::Series;
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

    /// The leader's line is flat at 0; another is above it where it would lead.
    #[test]
    fn differences_show_where_the_order_changes() {
        let runs = leaderboard(&[("early", &[1.0, 0.0]), ("late", &[0.0, 1.0])]);
        let gamma = Gamma::new(0.5).unwrap();
        let curves = lines(&runs).from(&runs.entries[0].run_id);
        let figure = evoscore_gamma(&curves, gamma, Size::WIDE, Theme::Page);
        assert_well_formed(&figure.svg);
        assert!(figure.svg.contains("EvoScore, difference from early"));
        let labels: Vec<&str> = figure.marks.iter().map(|m| m.label.as_str()).collect();
        let third = "\u{2212}0.333 from the leader";
        let expect = [
            "early: 0.667, 0.000 from the leader",
            &format!("late: 0.333, {third}"),
        ];
        assert_eq!(labels, expect);
        let [early, late] = &curves.iter().collect::<Vec<_>>()[..] else {
            panic!("{curves:?}")
        };
        assert!(
            curves
                .points(early)
                .iter()
                .all(|(_, height)| height.abs() < 1e-12)
        );
        assert!(
            curves.end(late) > 0.3,
            "it leads where later iterations weigh more"
        );
        // Scores stay scores.
        assert!((curves.lowest().unwrap() - 1.0 / 3.0).abs() < 1e-12);
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
        assert!(
            figure
                .svg
                .contains("No run of the whole split has a score yet")
                && figure.marks.is_empty()
        );
    }

    #[test]
    fn a_page_has_variables_and_paper_has_colours() {
        let page = figure(&[("m", &[0.5])], 1.0, Theme::Page).svg;
        let paper = figure(&[("m", &[0.5])], 1.0, Theme::Paper).svg;
        let stand_ins = ["=\"#5A", "=\"#5B", "=\"#5C", "=\"#5D", "=\"#5E"];
        let has_stand_in = |svg: &str| stand_ins.iter().any(|number| svg.contains(number));
        assert!(page.contains("var(--plot-") && !has_stand_in(&page));
        assert!(!paper.contains("var(") && !has_stand_in(&paper));
        assert!(!page.contains("style=") && !paper.contains("style="));
    }

    #[test]
    fn many_lines_keep_their_labels_apart() {
        let names: Vec<String> = (0..40).map(|i| format!("model {i}")).collect();
        let models: Vec<(&str, &[f64])> = names.iter().map(|n| (n.as_str(), &[0.5][..])).collect();
        let figure = figure(&models, 1.0, Theme::Page);
        assert_eq!(figure.marks.len(), 40);
        assert!(figure.svg.matches(">\nmodel").count() <= MOST_RUNS);
    }
}
