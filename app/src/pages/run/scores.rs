//! The scores of a run.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, IterationProfile};
use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::{Intervals, RecoveryTime, Scores};
use swe_ci_views::style::StyleMetric;
use swe_ci_views::view::RunDetail;

use super::profile::ProfileTable;
use crate::components::{Term, heading};
use crate::format;
use crate::glossary::Word;
use crate::query::encode;

/// A figure, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Figure {
    Known { text: String, beside: String },
    Unknown { why: &'static str },
}

/// A row of the table: a name, its explanation, and how to read it from the
/// scores.
struct Measure {
    name: &'static str,
    hint: &'static str,
    of: fn(&Scores) -> Figure,
}

static MEASURES: [Measure; 10] = [
    Measure {
        name: "EvoScore",
        hint: "γ-weighted mean of the normalized change after each iteration, −1 to 1",
        of: |s| mean(s, s.evoscore, 3, 2, |i| i.evoscore),
    },
    Measure {
        name: "Zero regression",
        hint: "Share of tasks in which no passing test was ever broken",
        of: |s| mean(s, s.zero_regression_rate, 2, 2, |i| i.zero_regression_rate),
    },
    Measure {
        name: "Solved",
        hint: "Share of tasks that ended with every target test passing",
        of: |s| mean(s, s.solved_rate, 2, 2, |i| i.solved_rate),
    },
    Measure {
        name: "Turns",
        hint: "Iterations used, on average",
        of: |s| mean(s, s.average_turns, 1, 1, |i| i.average_turns),
    },
    Measure {
        name: "Regression rate, correlation with iteration",
        hint: "Below 0: later iterations cause regressions less often than early ones. −1 to 1",
        of: |s| correlation(s, s.profile.rate_correlation, |i| i.regression_rate),
    },
    Measure {
        name: "Regression magnitude, correlation with iteration",
        hint: "Below 0: later iterations break a smaller share of passing tests. −1 to 1",
        of: |s| {
            correlation(s, s.profile.magnitude_correlation, |i| {
                i.regression_magnitude
            })
        },
    },
    Measure {
        name: "Recovery time",
        hint: "Iterations until all tests that one iteration broke passed again, on average",
        of: |s| recovery(s.convention, s.recovery),
    },
    Measure {
        name: "MI better than the oracle's",
        hint: "Share of solved tasks whose last code has a higher maintainability index",
        of: |s| wins(s, StyleMetric::Mi),
    },
    Measure {
        name: "Pylint score better than the oracle's",
        hint: "Share of solved tasks whose last code has a higher Pylint score",
        of: |s| wins(s, StyleMetric::Pylint),
    },
    Measure {
        name: "Changed lines against the oracle's",
        hint: "Lines of source it changed for each line the oracle changed, median over solved tasks",
        of: lines,
    },
];

/// A mean over tasks with its interval.
fn mean(
    scores: &Scores,
    value: Option<f64>,
    places: usize,
    interval_places: usize,
    interval: fn(&Intervals) -> Interval,
) -> Figure {
    let Some(value) = value else {
        return Figure::Unknown {
            why: "no evolution has been scored yet",
        };
    };
    let beside = scores.intervals.as_ref().map(interval);
    Figure::Known {
        text: format::decimals(value, places),
        beside: beside.map_or_else(String::new, |i| format::interval(i, interval_places)),
    }
}

fn correlation(
    scores: &Scores,
    value: Option<f64>,
    of: fn(&IterationProfile) -> Option<f64>,
) -> Figure {
    if let Some(value) = value {
        return Figure::Known {
            text: format::decimals(value, 2),
            beside: String::new(),
        };
    }
    let known = scores.profile.iterations.iter().filter_map(of).count();
    Figure::Unknown {
        why: if known < 3 {
            "undefined: fewer than three iterations have a value"
        } else {
            "undefined: the value is the same in every iteration"
        },
    }
}

fn recovery(convention: Convention, time: Option<RecoveryTime>) -> Figure {
    let Some(time) = time else {
        return Figure::Unknown {
            why: match convention {
                Convention::Paper => "the results say how many tests passed, but not which",
                Convention::Reference => "computed test by test, in the paper's convention only",
            },
        };
    };
    let repaired = format!("{} of {} repaired", time.repaired, time.regressions);
    match time.average_iterations {
        Some(average) => Figure::Known {
            text: format::decimals(average, 1),
            beside: repaired,
        },
        None if time.regressions == 0 => Figure::Unknown {
            why: "no regressions",
        },
        None => Figure::Unknown {
            why: "no regression was repaired",
        },
    }
}

const NOT_MEASURED: &str = "no solved task has its code style measured yet";

/// How often its code is better than the oracle's, equal or worse.
fn wins(scores: &Scores, metric: StyleMetric) -> Figure {
    let Some(rates) = scores.style.and_then(|style| style.of(metric)) else {
        return Figure::Unknown { why: NOT_MEASURED };
    };
    let interval = scores.intervals.and_then(|i| i.wins(metric));
    let interval = interval.map(|i| format::interval(i.win, 2));
    let [win, tie, loss] = [rates.win, rates.tie, rates.loss].map(format::share);
    let others = format!("{tie} equal, {loss} worse");
    Figure::Known {
        text: win,
        beside: interval
            .into_iter()
            .chain([others])
            .collect::<Vec<_>>()
            .join("; "),
    }
}

fn lines(scores: &Scores) -> Figure {
    match scores.style.and_then(|style| style.lines_ratio) {
        Some(ratio) => Figure::Known {
            text: format!("{}×", format::decimals(ratio, 1)),
            beside: String::new(),
        },
        None => Figure::Unknown { why: NOT_MEASURED },
    }
}

/// The scores of the run, in each convention that has any.
#[component]
pub(super) fn ScoresOfRun(
    scores: RwSignal<Vec<Scores>>,
    detail: RwSignal<RunDetail>,
) -> impl IntoView {
    let (run_id, split) =
        detail.with_untracked(|d| (d.summary.run_id.clone(), d.summary.config.split.clone()));
    let counts_only =
        detail.with_untracked(|d| d.evolution_list.iter().any(|e| e.suite.counts_only));
    let missing = counts_only.then(|| {
        view! {
            <p class="quiet">
                "The results say how many tests passed, but not which: there are no scores in the paper's convention."
            </p>
        }
    });
    // Only this rebuilds the tables, so that unfolded parts stay open while
    // figures change.
    let none = Memo::new(move |_| scores.with(Vec::is_empty));
    let body = move || {
        if none.get() {
            return Either::Left(view! {
                <p class="quiet">"They will appear here as soon as the first evolution ends."</p>
            });
        }
        let run_id = run_id.clone();
        Either::Right(view! {
            <MeasureTable scores/>
            <ProfileTable scores run_id/>
        })
    };
    view! {
        <section class="scores" aria-labelledby="scores-title">
            <h2 id="scores-title">"Scores"</h2>
            <p class="quiet">
                "At γ = 1, with 95 % intervals. "
                <a href="/about#columns">"Definitions"</a>
                " · "
                <a href=format!("/?split={}", encode(&split))>"The leaderboard of this split"</a>
            </p>
            {missing}
            {body}
        </section>
    }
}

#[component]
fn MeasureTable(scores: RwSignal<Vec<Scores>>) -> impl IntoView {
    let heads = move || {
        let head = |s: &Scores| view! { <th scope="col">{s.convention.name()}</th> };
        scores.with(|scores| scores.iter().map(head).collect_view())
    };
    let row = |measure: &'static Measure| {
        let cells = move || {
            let figures = |scores: &Vec<Scores>| scores.iter().map(measure.of).collect::<Vec<_>>();
            scores.with(figures).into_iter().map(cell).collect_view()
        };
        view! {
            <tr>
                <th scope="row">{heading(measure.name, measure.hint)}</th>
                {cells}
            </tr>
        }
    };
    let rows = MEASURES.iter().map(row).collect_view();
    view! {
        <div class="table-frame" tabindex="0" role="region" aria-label="Scores by convention">
            <table class="measures">
                <caption class="visually-hidden">"Scores by convention"</caption>
                <thead>
                    <tr><th scope="col">"Measure, by "<Term word=Word::Convention/></th>{heads}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

fn cell(figure: Figure) -> impl IntoView {
    match figure {
        Figure::Known { text, beside } => Either::Left(view! {
            <td>
                <span class="measure-value">{text}</span>
                " "
                <small>{beside}</small>
            </td>
        }),
        Figure::Unknown { why } => Either::Right(view! {
            <td title=why>
                <span class="measure-value none" aria-hidden="true">"–"</span>
                <span class="visually-hidden">{why}</span>
            </td>
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Gamma;
    use swe_ci_plots::fixture::{sheet, sheet_of};
    use swe_ci_views::leaderboard::{LeaderboardData, UncertaintyModel};
    use swe_ci_views::testing::{beside, styled};

    fn scores(sheet: &LeaderboardData) -> Scores {
        let mut scores = sheet.entries[0].scores(Gamma::ONE, Convention::Reference);
        let row = UncertaintyModel::new(sheet).rank(sheet, Gamma::ONE, Convention::Reference);
        scores.intervals = row[0].intervals;
        scores
    }

    fn known(text: &str, beside: &str) -> Figure {
        Figure::Known {
            text: text.into(),
            beside: beside.into(),
        }
    }

    #[test]
    fn figures_have_their_intervals() {
        let seen = scores(&sheet_of(&[("m", vec![&[0.5], &[1.0]])]));
        let figures: Vec<Figure> = MEASURES.iter().map(|m| (m.of)(&seen)).collect();
        assert_eq!(figures[0], known("0.750", "[0.50, 1.00]"));
        assert_eq!(figures[2], known("0.50", "[0.00, 1.00]"));
        assert_eq!(figures[3], known("1.0", "[1.0, 1.0]"));
        // A single repository has no interval.
        let seen = scores(&sheet(&[("m", &[0.5])]));
        assert_eq!((MEASURES[0].of)(&seen), known("0.500", ""));
    }

    #[test]
    fn style_beside_the_oracle() {
        let bare = sheet_of(&[("m", vec![&[1.0], &[1.0]])]);
        assert_eq!(wins(&scores(&bare), StyleMetric::Mi), unmeasured());
        assert_eq!(lines(&scores(&bare)), unmeasured());
        let mut sheet = bare;
        let run = sheet.entries[0].clone();
        let mi = |task| [70.0 + if task == 0 { 1.0 } else { 0.0 }, 70.0];
        sheet.entries[0] = styled(run, |task, _| Some(beside(mi(task), [8.0; 2], [15, 10])));
        let seen = scores(&sheet);
        let better = known("0.50", "[0.00, 1.00]; 0.50 equal, 0.00 worse");
        assert_eq!(wins(&seen, StyleMetric::Mi), better);
        let equal = known("0.00", "[0.00, 0.00]; 1.00 equal, 0.00 worse");
        assert_eq!(wins(&seen, StyleMetric::Pylint), equal);
        assert_eq!(lines(&seen), known("1.5×", ""));
    }

    fn unmeasured() -> Figure {
        Figure::Unknown { why: NOT_MEASURED }
    }

    #[test]
    fn what_is_undefined_says_why() {
        let check = |changes: &[f64], expect: &str| {
            let seen = scores(&sheet(&[("m", changes)]));
            let figure = (MEASURES[4].of)(&seen);
            assert!(
                matches!(figure, Figure::Unknown { why } if why.contains(expect)),
                "{figure:?}"
            );
        };
        check(&[0.1, 0.2], "fewer than three");
        check(&[0.1, 0.2, 0.3], "the same in every");
        let seen = scores(&sheet(&[("m", &[0.5, 0.1, 0.2])]));
        assert!(matches!((MEASURES[4].of)(&seen), Figure::Known { .. }));
    }

    #[test]
    fn recovery_in_words() {
        let time = |regressions, repaired, average_iterations| {
            let time = RecoveryTime {
                regressions,
                repaired,
                average_iterations,
            };
            recovery(Convention::Paper, Some(time))
        };
        assert_eq!(time(3, 2, Some(2.5)), known("2.5", "2 of 3 repaired"));
        let why = |figure| match figure {
            Figure::Unknown { why } => why,
            Figure::Known { text, .. } => panic!("{text}"),
        };
        assert_eq!(why(time(0, 0, None)), "no regressions");
        assert_eq!(why(time(1, 0, None)), "no regression was repaired");
        assert!(why(recovery(Convention::Paper, None)).contains("not which"));
        assert!(why(recovery(Convention::Reference, None)).contains("paper"));
    }
}
