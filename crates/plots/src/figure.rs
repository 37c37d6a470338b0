//! Draws a figure of the paper for a layout: picks the shape that serves it.

use swe_ci_views::figures::{self, Data};

use crate::brush::{Brush, Layout};
use crate::canvas::{Anchor, Frame, Margins};
use crate::paint::{Paint, Theme};
use crate::{
    Curves, Figure, Series, bars, changed, correlation, evoscore_gamma, lines, ranks, scatter,
    style_wins, trends,
};

/// Draws a figure from its data; `series` has the look of each entry of the
/// leaderboard data. A figure without data says so.
pub fn figure(
    which: figures::Figure,
    data: &Data,
    series: &Series,
    layout: Layout,
    theme: Theme,
) -> Figure {
    let brush = Brush::new(layout, theme, series);
    if data.is_empty() {
        return nothing(&brush, which);
    }
    match data {
        Data::Releases(data) => scatter::releases(&brush, data),
        Data::Curves(data) => {
            let curves = Curves::of_figure(data, |run| brush.look(run));
            evoscore_gamma(&curves, data.gamma, layout.size(), theme)
        }
        Data::Ranks(data) => ranks::ranks(&brush, data),
        Data::Bars(data) => bars::bars(&brush, data, which.title()),
        Data::Correlations(data) => correlation::correlations(&brush, data),
        Data::Lines(data) => lines::lines(&brush, data, which.title()),
        Data::Spending(data) => scatter::spending(&brush, data),
        Data::StyleWins(data) => style_wins::style_wins(&brush, data),
        Data::ChangedLines(data) => changed::changed_lines(&brush, data),
        Data::StyleTrends(data) => trends::style_trends(&brush, data),
    }
}

fn nothing(brush: &Brush<'_>, which: figures::Figure) -> Figure {
    let frame = Frame {
        size: brush.size(120),
        margins: Margins::new(10, 10, 10, 10),
        x: 0.0..=1.0,
        y: 0.0..=1.0,
    };
    let text = which.nothing();
    let summary = format!("{}: {}.", which.title(), text.to_lowercase());
    frame.draw(brush.theme, summary, |canvas| {
        let at = canvas.pixel(0.5, 0.5);
        canvas.text(text, at, Anchor::Above, Paint::Muted);
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use swe_ci_core::usage::Usage;
    use swe_ci_views::leaderboard::{Effort, LeaderboardData, Published};
    use swe_ci_views::testing::with_effort;

    use super::*;
    use crate::fixture::study;
    use crate::fixture::{assert_well_formed, data, leaderboard, leaderboard_of, style, styled};

    fn draw(
        leaderboard: &LeaderboardData,
        which: figures::Figure,
        layout: Layout,
        theme: Theme,
    ) -> Figure {
        figure(
            which,
            &data(leaderboard, which, 1.0),
            &look(leaderboard),
            layout,
            theme,
        )
    }

    fn look(leaderboard: &LeaderboardData) -> Series {
        Series::new(leaderboard, &study(leaderboard, 1.0).rows)
    }

    /// Three runs with all the data that figures need.
    fn board() -> LeaderboardData {
        let falls: [&[f64]; 3] = [&[0.5, 0.2, 0.1, 0.4], &[0.3, 0.2, 0.4], &[0.5, 0.1]];
        let rises: [&[f64]; 3] = [&[0.2, 0.4, 0.7, 1.0], &[0.1, 0.5], &[0.3]];
        let mut leaderboard = leaderboard_of(&[
            ("<script>\"&", falls.to_vec()),
            ("rises", rises.to_vec()),
            ("calm", rises.to_vec()),
        ]);
        for (number, entry) in (1u64..).zip(&mut leaderboard.entries) {
            entry.release_date = Some(format!("2026-0{number}-15"));
            entry.usage = Some(Usage {
                input_tokens: 1_000 * 30u64.pow(number as u32),
                output_tokens: 10,
                ..Usage::default()
            });
            // The tasks differ, so that there are intervals to draw.
            *entry = with_effort(entry.clone(), |task, _| Effort {
                tokens: Some((1_000 + 500 * task as u64) * 30u64.pow(number as u32)),
                micro_usd: Some((9_000 + 500 * task as u64) * 7u64.pow(number as u32)),
                agent_ms: Some((40_000 + 9_000 * task as u64) * 5u64.pow(number as u32)),
                ..Effort::default()
            });
        }
        styled(&mut leaderboard, style);
        leaderboard
    }

    #[test]
    fn every_figure_in_every_place() {
        let leaderboard = board();
        for which in figures::Figure::ALL {
            for layout in Layout::ALL {
                for theme in [Theme::Page, Theme::Paper] {
                    let figure = draw(&leaderboard, which, layout, theme);
                    assert_well_formed(&figure.svg);
                    assert!(!figure.svg.contains("<script"), "{which:?}");
                    assert!(!figure.svg.contains("style="), "{which:?}");
                    assert_eq!(figure.size.width, layout.width());
                    assert!(!figure.marks.is_empty(), "{which:?}");
                    let (w, h) = (figure.size.width, figure.size.height);
                    for mark in &figure.marks {
                        let inside = (0.0..=f64::from(w)).contains(&mark.px)
                            && (0.0..=f64::from(h)).contains(&mark.py);
                        assert!(inside, "{which:?} {layout:?}: {mark:?}");
                        assert!(!mark.label.is_empty());
                    }
                }
            }
        }
    }

    /// Of the widest letters too.
    #[test]
    fn no_text_leaves_its_picture() {
        let mut leaderboard = board();
        for (number, entry) in leaderboard.entries.iter_mut().enumerate() {
            entry.model = format!("{number} {}", "W".repeat(40));
        }
        for which in figures::Figure::ALL {
            for layout in Layout::ALL {
                let figure = draw(&leaderboard, which, layout, Theme::Page);
                let width = f64::from(figure.size.width);
                for (left, right, text) in texts(&figure.svg) {
                    let inside = left >= -1.0 && right <= width + 1.0;
                    assert!(
                        inside,
                        "{which:?} {layout:?}: {text} from {left} to {right}"
                    );
                }
            }
        }
    }

    /// Every text of a picture, and from where to where it is.
    fn texts(svg: &str) -> Vec<(f64, f64, String)> {
        let of = |element: &str| {
            let (tag, rest) = element.split_once('>')?;
            let attribute = |name: &str| {
                let (_, value) = tag.split_once(&format!(" {name}=\""))?;
                value.split('"').next().map(str::to_owned)
            };
            let x = attribute("x")?.parse::<f64>().ok()? / f64::from(crate::canvas::SCALE);
            let text = rest.split('<').next()?.trim().to_owned();
            let width = crate::text::width(&text);
            let left = match attribute("text-anchor")?.as_str() {
                "start" => x,
                "middle" => x - width / 2.0,
                _ => x - width,
            };
            Some((left, left + width, text))
        };
        let texts: Vec<_> = svg.split("<text").skip(1).filter_map(of).collect();
        assert_eq!(texts.len(), svg.matches("<text").count());
        texts
    }

    #[test]
    fn what_has_nothing_to_show_says_so() {
        let mut empty = leaderboard(&[]);
        empty.published = Published::default();
        for which in figures::Figure::ALL {
            let figure = draw(&empty, which, Layout::Narrow, Theme::Paper);
            assert_well_formed(&figure.svg);
            assert!(figure.marks.is_empty() && figure.svg.contains(which.nothing()));
        }
    }

    /// With thirty models, every one has its name in figures of a line or a point
    /// each: beside it, or by a letter in the key.
    #[test]
    fn thirty_models_have_their_names() {
        use figures::Figure as Which;

        let names: Vec<String> = (0..30).map(|i| format!("m{i:02}")).collect();
        let scores: Vec<[f64; 2]> = (0..30)
            .map(|i| [0.3, 0.3 + f64::from(i % 10) / 50.0])
            .collect();
        let models: Vec<(&str, &[f64])> = names
            .iter()
            .zip(&scores)
            .map(|(name, score)| (name.as_str(), &score[..]))
            .collect();
        let mut leaderboard = leaderboard(&models);
        for (number, entry) in leaderboard.entries.iter_mut().enumerate() {
            entry.release_date = Some(format!("2026-01-{:02}", number % 5 + 1));
        }
        for which in [
            Which::EvoscoreByRelease,
            Which::RankByGamma,
            Which::BestChange,
            Which::EvoscoreGamma,
        ] {
            let svg = draw(&leaderboard, which, Layout::Wide, Theme::Paper).svg;
            let texts: Vec<String> = texts(&svg).into_iter().map(|(_, _, text)| text).collect();
            for name in &names {
                let says = |text: &String| text.split_whitespace().any(|word| word == name);
                assert!(texts.iter().any(says), "{which:?}: {name} in {texts:?}");
            }
        }
    }

    /// A run has the same colour in all figures, whatever its position.
    #[test]
    fn colours_go_by_the_place_in_the_sheet() {
        let leaderboard = leaderboard(&[("bad", &[0.1]), ("good", &[0.9])]);
        let series = look(&leaderboard);
        let brush = Brush::new(Layout::Wide, Theme::Page, &series);
        let Data::Bars(bars) = data(&leaderboard, figures::Figure::Solved, 1.0) else {
            panic!("solved is a chart of bars")
        };
        let series_of_runs: Vec<(&str, Option<usize>)> = bars
            .bars
            .iter()
            .map(|bar| (bar.run.model.as_str(), brush.look(&bar.run).colour()))
            .collect();
        assert_eq!(series_of_runs, [("bad", Some(2)), ("good", Some(3))]);
    }

    /// With a hundred runs, a figure is no longer than the space allows.
    #[test]
    fn many_runs() {
        let names: Vec<String> = (0..60)
            .map(|i| format!("model with a long name {i}"))
            .collect();
        let models: Vec<(&str, &[f64])> = names
            .iter()
            .map(|name| (name.as_str(), &[0.5, 0.4, 0.6][..]))
            .collect();
        let leaderboard = leaderboard(&models);
        for which in figures::Figure::ALL {
            assert_well_formed(&draw(&leaderboard, which, Layout::Wide, Theme::Page).svg);
        }
    }
}
