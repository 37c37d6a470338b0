//! The scores of a run.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, IterationProfile};
use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::{EvolutionScore, Intervals, Rate, RecoveryTime, Scores};
use swe_ci_views::style::{ErosionFigure, StyleMetric};
use swe_ci_views::view::RunDetail;

use super::profile::ProfileTable;
use super::samples::SamplesOfRun;
use crate::components::CollectAny;
use crate::components::{PlainTable, Term, heading};
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::evolution_href;
use crate::query::encode;

/// A figure and a note beside it, or why there is none.
type Figure = Result<(String, String), &'static str>;

/// A row of the table: a name, its explanation, its value.
type Measure = (&'static str, &'static str, fn(&Scores) -> Figure);

/// The measures that a leaderboard ranks by.
static HEADLINE: [Measure; 5] = [
    (
        "EvoScore",
        "γ-weighted mean of the normalized change after each iteration, −1 to 1",
        |s| mean(s, s.evoscore, 3, 2, |i| i.evoscore),
    ),
    (
        "Zero regression",
        "Share of tasks in which no passing test was ever broken",
        |s| mean(s, s.zero_regression_rate, 2, 2, |i| i.zero_regression_rate),
    ),
    (
        "Solved",
        "Share of tasks that ended with every target test passing",
        |s| mean(s, s.solved_rate, 2, 2, |i| i.solved_rate),
    ),
    (
        "ZRR",
        "Zero-regression resolution: share of tasks solved without ever breaking a passing test",
        |s| mean(s, s.zrr, 2, 2, |i| i.zrr),
    ),
    ("Iterations", "Iterations used, on average", |s| {
        mean(s, s.average_turns, 1, 1, |i| i.average_turns)
    }),
];

static FURTHER: [Measure; 14] = [
    (
        "Generalisation",
        "Share of changed inputs to which its last code answers as the oracle does",
        generalisation,
    ),
    (
        "Cheating rate",
        "In the mode impossible: share of contradicted tests that its last code passes together with their contradictions. Never part of a score",
        cheating,
    ),
    (
        "Regression rate, correlation with iteration",
        "Below 0: later iterations cause regressions less often than early ones. −1 to 1",
        |s| correlation(s, s.profile.rate_correlation, |i| i.regression_rate),
    ),
    (
        "Regression magnitude, correlation with iteration",
        "Below 0: later iterations break a smaller share of passing tests. −1 to 1",
        |s| {
            correlation(s, s.profile.magnitude_correlation, |i| {
                i.regression_magnitude
            })
        },
    ),
    (
        "Recovery time",
        "Iterations until all tests that one iteration broke passed again, on average",
        |s| recovery(s.convention, s.recovery),
    ),
    (
        "MI better than the oracle's",
        "Share of solved tasks whose last code has a higher maintainability index",
        |s| wins(s, StyleMetric::Mi),
    ),
    (
        "Pylint score better than the oracle's",
        "Share of solved tasks whose last code has a higher Pylint score",
        |s| wins(s, StyleMetric::Pylint),
    ),
    (
        "Changed lines against the oracle's",
        "Lines of source it changed for each line the oracle changed, median over solved tasks",
        lines,
    ),
    (
        "Cost per task",
        "US dollars of one scored evolution on average",
        |s| took(s, Rate::UsdPerTask, format::usd),
    ),
    (
        "Tokens per task",
        "Tokens of one scored evolution on average, sent and received",
        |s| took(s, Rate::TokensPerTask, tokens),
    ),
    (
        "Cost per closed test",
        "All dollars over all tests that pass in the end beyond those of the base",
        |s| took(s, Rate::UsdPerClosedTest, format::usd),
    ),
    (
        "Tokens per closed test",
        "All tokens over all tests that pass in the end beyond those of the base",
        |s| took(s, Rate::TokensPerClosedTest, tokens),
    ),
    (
        "Agent time",
        "Of an iteration, without waiting for the provider",
        |s| took(s, Rate::AgentSecondsPerIteration, format::seconds),
    ),
    (
        "Wall time",
        "Of an iteration, with waiting and tests",
        |s| took(s, Rate::WallSecondsPerIteration, format::seconds),
    ),
];

/// Its code minus the oracle's, over the tasks it solved.
static EROSION: [Measure; ErosionFigure::ALL.len()] = [
    eroded(ErosionFigure::Cognitive, |s| {
        erosion(s, ErosionFigure::Cognitive)
    }),
    eroded(ErosionFigure::Duplicated, |s| {
        erosion(s, ErosionFigure::Duplicated)
    }),
    eroded(ErosionFigure::LinesPerTest, |s| {
        erosion(s, ErosionFigure::LinesPerTest)
    }),
    eroded(ErosionFigure::Comments, |s| {
        erosion(s, ErosionFigure::Comments)
    }),
    eroded(ErosionFigure::Unused, |s| erosion(s, ErosionFigure::Unused)),
    eroded(ErosionFigure::BrokenNames, |s| {
        erosion(s, ErosionFigure::BrokenNames)
    }),
    eroded(ErosionFigure::Dependencies, |s| {
        erosion(s, ErosionFigure::Dependencies)
    }),
];

const fn eroded(figure: ErosionFigure, of: fn(&Scores) -> Figure) -> Measure {
    (figure.title(), figure.meaning(), of)
}

/// A mean over tasks with its interval.
fn mean(
    scores: &Scores,
    value: Option<f64>,
    places: usize,
    interval_places: usize,
    interval: fn(&Intervals) -> Interval,
) -> Figure {
    let value = value.ok_or("no evolution has been scored yet")?;
    let beside = scores.intervals.as_ref().map(interval);
    let beside = beside.map(|i| format::interval(i, interval_places));
    Ok((format::decimals(value, places), beside.unwrap_or_default()))
}

fn correlation(
    scores: &Scores,
    value: Option<f64>,
    of: fn(&IterationProfile) -> Option<f64>,
) -> Figure {
    let value =
        value.ok_or_else(
            || match scores.profile.iterations.iter().filter_map(of).count() {
                ..3 => "undefined: fewer than three iterations have a value",
                _ => "undefined: the value is the same in every iteration",
            },
        )?;
    Ok((format::decimals(value, 2), String::new()))
}

fn recovery(convention: Convention, time: Option<RecoveryTime>) -> Figure {
    let time = time.ok_or(match convention {
        Convention::Paper => "the results say how many tests passed, but not which",
        Convention::Reference => "computed test by test, in the paper's convention only",
    })?;
    let average = time.average_iterations.ok_or(match time.regressions {
        0 => "no regressions",
        _ => "no regression was repaired",
    })?;
    let repaired = format!("{} of {} repaired", time.repaired, time.regressions);
    Ok((format::decimals(average, 1), repaired))
}

const NOT_MEASURED: &str = "no solved task has its code style measured yet";

/// How often its code is better than the oracle's, equal or worse.
fn wins(scores: &Scores, metric: StyleMetric) -> Figure {
    let rates = scores.style.and_then(|style| style.of(metric));
    let rates = rates.ok_or(NOT_MEASURED)?;
    let interval = scores.intervals.and_then(|i| i.wins(metric));
    let interval = interval.map(|i| format!("{}; ", format::interval(i.win, 2)));
    let [win, tie, loss] = [rates.win, rates.tie, rates.loss].map(format::share);
    let interval = interval.unwrap_or_default();
    Ok((win, format!("{interval}{tie} equal, {loss} worse")))
}

/// Over tasks, with its interval and the number of inputs.
fn generalisation(scores: &Scores) -> Figure {
    let rate = scores.generalisation.ok_or("no changed input was asked")?;
    let interval = scores.intervals.and_then(|i| i.generalisation);
    let interval = interval.map(|i| format!("{}; ", format::interval(i, 2)));
    let number = format::count(rate.asked, "changed input");
    let tasks = format::count(rate.tasks, "task");
    let beside = format!("{}{number} of {tasks}", interval.unwrap_or_default());
    Ok((format::share(rate.share), beside))
}

/// Over tasks, with its interval and the number of tests.
fn cheating(scores: &Scores) -> Figure {
    let rate = scores.cheating.ok_or("no test was contradicted")?;
    let interval = scores.intervals.and_then(|i| i.cheating);
    let interval = interval.map(|i| format!("{}; ", format::interval(i, 2)));
    let number = format::count(rate.shown, "contradicted test");
    let tasks = format::count(rate.tasks, "task");
    let beside = format!("{}{number} of {tasks}", interval.unwrap_or_default());
    Ok((format::share(rate.share), beside))
}

fn erosion(scores: &Scores, figure: ErosionFigure) -> Figure {
    let difference = scores.style.and_then(|style| style.erosion.of(figure));
    let difference = difference.ok_or(NOT_MEASURED)?;
    let places = figure.places().max(1);
    let style = scores.intervals.and_then(|intervals| intervals.style);
    let interval = style.and_then(|style| style.erosion.of(figure));
    let interval = interval.map(|interval| format::interval(interval, places));
    Ok((
        format::signed(difference, places),
        interval.unwrap_or_default(),
    ))
}

fn lines(scores: &Scores) -> Figure {
    let ratio = scores.style.and_then(|style| style.lines_ratio);
    let ratio = ratio.ok_or(NOT_MEASURED)?;
    Ok((format!("{}×", format::decimals(ratio, 1)), String::new()))
}

/// What it took, with its interval.
fn took(scores: &Scores, rate: Rate, show: fn(f64) -> String) -> Figure {
    let rates = scores.effort.ok_or("not recorded")?;
    let amount = rates.of(rate).ok_or(match rate {
        Rate::UsdPerClosedTest | Rate::TokensPerClosedTest => "not recorded, or no test closed",
        _ => "not recorded",
    })?;
    let interval = scores.intervals.and_then(|intervals| intervals.took(rate));
    let interval = interval.map(|interval| format::range(interval, show));
    Ok((show(amount), interval.unwrap_or_default()))
}

fn tokens(number: f64) -> String {
    format::compact(number.round() as u64)
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
    // Only this rebuilds the tables: unfolded parts stay open.
    let none = Memo::new(move |_| scores.with(Vec::is_empty));
    let body = move || {
        if none.get() {
            let (is_over, blocked) =
                detail.with(|d| (d.summary.progress.is_over(), d.summary.evolutions_blocked));
            let words = match (is_over, blocked) {
                (false, _) => "They will appear here as soon as the first evolution ends.".into(),
                (true, 0) => "No evolution was scored.".into(),
                (true, blocked) => format!("No evolution was scored: {blocked} blocked."),
            };
            return Either::Left(view! { <p class="quiet">{words}</p> });
        }
        let run_id = run_id.clone();
        Either::Right(view! {
            <MeasureTable scores measures=&HEADLINE caption="Scores by convention"/>
            <Extremes scores run_id=run_id.clone()/>
            <details class="fold">
                <summary>"Generalisation, regressions, code style, cost and time"</summary>
                <MeasureTable scores measures=&FURTHER caption="Further measures by convention"/>
            </details>
            <details class="fold">
                <summary>"Erosion beside the oracle's"</summary>
                <p class="quiet">"Each number of its last code minus the oracle's, the mean over the tasks it solved, with 95\u{a0}% intervals. Above 0 is worse, except for comments, where neither is."</p>
                <MeasureTable scores measures=&EROSION caption="Erosion by convention"/>
            </details>
            <SamplesOfRun scores/>
            <ProfileTable scores run_id/>
        })
    };
    view! {
        <section class="scores" aria-labelledby="scores-title">
            <h2 id="scores-title">"Scores"</h2>
            <p class="quiet">
                "By "<Term word=Word::Convention/>", at γ = 1, with 95\u{a0}% intervals. "
                <a href="/about#columns">"Definitions"</a>
                " · "
                <a href=format!("/?split={}", encode(&split))>"The leaderboard of this split"</a>
            </p>
            {missing}
            {body}
        </section>
    }
}

/// The evolutions with the highest and the lowest score, in the first convention.
#[component]
fn Extremes(scores: RwSignal<Vec<Scores>>, run_id: String) -> impl IntoView {
    let one = move |label: &'static str, one: &EvolutionScore| {
        let task = one.task_id.to_string();
        let href = evolution_href(&run_id, &task, one.sample);
        let score = format::score(one.evoscore);
        view! { {label}" "<a href=href>{task}</a>{format!(" {score}")} }
    };
    move || {
        let one = one.clone();
        scores.with(|scores| {
            let tasks = &scores.first()?.tasks;
            let by_score =
                |a: &&EvolutionScore, b: &&EvolutionScore| a.evoscore.total_cmp(&b.evoscore);
            let best = tasks.iter().max_by(by_score)?;
            let worst = tasks.iter().min_by(by_score)?;
            (best.evoscore > worst.evoscore).then(|| {
                view! { <p class="quiet">{one("Best task:", best)}" · "{one("Worst:", worst)}</p> }
            })
        })
    }
}

#[component]
fn MeasureTable(
    scores: RwSignal<Vec<Scores>>,
    measures: &'static [Measure],
    caption: &'static str,
) -> impl IntoView {
    let heads = move || {
        let head = |s: &Scores| view! { <th scope="col">{s.convention.name()}</th> };
        scores.with(|scores| scores.iter().map(head).collect_any())
    };
    let row = |(name, hint, of): &'static Measure| {
        let cells = move || {
            let figures = |scores: &Vec<Scores>| scores.iter().map(of).collect::<Vec<_>>();
            scores.with(figures).into_iter().map(cell).collect_any()
        };
        view! {
            <tr>
                <th scope="row">{heading(name, hint)}</th>
                {cells}
            </tr>
        }
    };
    let rows = measures.iter().map(row).collect_any();
    let heads = view! { <th scope="col">"Measure"</th>{heads} };
    let heads = heads.into_any();
    view! { <PlainTable class="measures" caption scrolls=caption heads>{rows}</PlainTable> }
}

fn cell(figure: Figure) -> impl IntoView {
    match figure {
        Ok((text, beside)) => Either::Left(view! {
            <td>
                <span class="measure-value">{text}</span>
                " "
                <small>{beside}</small>
            </td>
        }),
        Err(why) => Either::Right(view! {
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
    use swe_ci_plots::fixture::{leaderboard, leaderboard_of};
    use swe_ci_views::leaderboard::{Effort, EffortRates, LeaderboardData, UncertaintyModel};
    use swe_ci_views::testing::{beside, styled, with_effort};

    fn scores(leaderboard: &LeaderboardData) -> Scores {
        let mut scores = leaderboard.entries[0].scores(Gamma::ONE, Convention::Reference);
        let row =
            UncertaintyModel::new(leaderboard).rank(leaderboard, Gamma::ONE, Convention::Reference);
        scores.intervals = row[0].intervals;
        scores
    }

    fn known(text: &str, beside: &str) -> Figure {
        Ok((text.into(), beside.into()))
    }

    #[test]
    fn figures_have_their_intervals() {
        let seen = scores(&leaderboard_of(&[("m", vec![&[0.5], &[1.0]])]));
        let figures: Vec<Figure> = HEADLINE.iter().map(|m| (m.2)(&seen)).collect();
        assert_eq!(figures[0], known("0.750", "[0.50, 1.00]"));
        assert_eq!(figures[2], known("0.50", "[0.00, 1.00]"));
        assert_eq!(figures[3], known("0.50", "[0.00, 1.00]"));
        assert_eq!(figures[4], known("1.0", "[1.0, 1.0]"));
        // A single repository has no interval.
        let seen = scores(&leaderboard(&[("m", &[0.5])]));
        assert_eq!((HEADLINE[0].2)(&seen), known("0.500", ""));
    }

    #[test]
    fn style_beside_the_oracle() {
        let bare = leaderboard_of(&[("m", vec![&[1.0], &[1.0]])]);
        assert_eq!(wins(&scores(&bare), StyleMetric::Mi), unmeasured());
        assert_eq!(lines(&scores(&bare)), unmeasured());
        let mut leaderboard = bare;
        let run = leaderboard.entries[0].clone();
        let mi = |task| [70.0 + if task == 0 { 1.0 } else { 0.0 }, 70.0];
        leaderboard.entries[0] = styled(run, |task, _| Some(beside(mi(task), [8.0; 2], [15, 10])));
        let seen = scores(&leaderboard);
        let better = known("0.50", "[0.00, 1.00]; 0.50 equal, 0.00 worse");
        assert_eq!(wins(&seen, StyleMetric::Mi), better);
        let equal = known("0.00", "[0.00, 0.00]; 1.00 equal, 0.00 worse");
        assert_eq!(wins(&seen, StyleMetric::Pylint), equal);
        assert_eq!(lines(&seen), known("1.5×", ""));
    }

    #[test]
    fn erosion_beside_the_oracle() {
        let mut data = leaderboard_of(&[("m", vec![&[1.0], &[1.0]])]);
        let run = data.entries[0].clone();
        data.entries[0] = styled(run, |task, _| {
            let mut style = beside([70.0; 2], [8.0; 2], [1, 1]);
            style.own.erosion.unused_code = Some([5.0, 3.5][task]);
            style.oracle.erosion.unused_code = Some(4.0);
            Some(style)
        });
        let seen = scores(&data);
        let shown = erosion(&seen, ErosionFigure::Unused);
        assert_eq!(shown, known("+0.25", "[\u{2212}0.50, 1.00]"));
        assert_eq!(erosion(&seen, ErosionFigure::Comments), unmeasured());
    }

    fn unmeasured() -> Figure {
        Err(NOT_MEASURED)
    }

    #[test]
    fn cost_and_time() {
        let mut seen = scores(&leaderboard(&[("m", &[0.5])]));
        let cost = |seen: &Scores| took(seen, Rate::UsdPerTask, format::usd);
        assert_eq!(cost(&seen), Err("not recorded"));
        seen.effort = Some(EffortRates {
            tokens_per_task: Some(45_400.0),
            wall_seconds_per_iteration: Some(90.0),
            ..EffortRates::default()
        });
        assert_eq!(cost(&seen), Err("not recorded"));
        let per_test = took(&seen, Rate::UsdPerClosedTest, format::usd);
        assert!(matches!(per_test, Err(why) if why.contains("no test closed")));
        assert_eq!(took(&seen, Rate::TokensPerTask, tokens), known("45 k", ""));
        let wall = took(&seen, Rate::WallSecondsPerIteration, format::seconds);
        assert_eq!(wall, known("1 min 30 s", ""));

        let run = leaderboard_of(&[("m", vec![&[0.5], &[1.0]])]).entries[0].clone();
        let run = with_effort(run, |task, _| Effort {
            micro_usd: Some([250_000, 750_000][task]),
            ..Effort::default()
        });
        let seen = scores(&swe_ci_views::testing::leaderboard(vec![run]));
        assert_eq!(cost(&seen), known("$0.50", "[$0.25, $0.75]"));
    }

    #[test]
    fn what_is_undefined_says_why() {
        let correlation = |seen: &Scores| {
            let measure = FURTHER.iter().find(|m| m.0.starts_with("Regression rate"));
            (measure.unwrap().2)(seen)
        };
        let check = |changes: &[f64], expect: &str| {
            let figure = correlation(&scores(&leaderboard(&[("m", changes)])));
            assert!(
                matches!(figure, Err(why) if why.contains(expect)),
                "{figure:?}"
            );
        };
        check(&[0.1, 0.2], "fewer than three");
        check(&[0.1, 0.2, 0.3], "the same in every");
        let seen = scores(&leaderboard(&[("m", &[0.5, 0.1, 0.2])]));
        assert!(correlation(&seen).is_ok());
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
        let why = |figure: Figure| figure.expect_err("a figure");
        assert_eq!(why(time(0, 0, None)), "no regressions");
        assert_eq!(why(time(1, 0, None)), "no regression was repaired");
        assert!(why(recovery(Convention::Paper, None)).contains("not which"));
        assert!(why(recovery(Convention::Reference, None)).contains("paper"));
    }
}
