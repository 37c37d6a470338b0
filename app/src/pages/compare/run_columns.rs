//! The runs in columns, with the figures of the leaderboard.

use leptos::prelude::*;
use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::{Intervals, Rate, Row, Versus};

use super::names::{Letter, Name};
use super::query::CompareQuery;
use crate::components::CollectAny;
use crate::components::{MarkKey, PlainTable, ScoreBar, Tag, Term, Tone, floor_of, heading};
use crate::glossary::Word;
use crate::pages::result_table::{KindTag, MarkTag, ModeTag, UnrankedTag};
use crate::pages::routes::run_href;
use crate::{format, labels};

/// A row of the table.
struct Line {
    name: &'static str,
    hint: &'static str,
    /// Its figure, and a note beside it.
    of: fn(&Row) -> (String, String),
    /// Whether the figure is known; a row is left out where no run has it.
    known: fn(&Row) -> bool,
}

static LINES: [Line; 13] = [
    Line {
        name: "Zero regression",
        hint: "Share of tasks in which no passing test was ever broken",
        of: |row| rate(row, row.zero_regression_rate, |i| i.zero_regression_rate, 2),
        known: |_| true,
    },
    Line {
        name: "Solved",
        hint: "Share of tasks that ended with every target test passing",
        of: |row| rate(row, row.solved_rate, |i| i.solved_rate, 2),
        known: |_| true,
    },
    Line {
        name: "ZRR",
        hint: "Zero-regression resolution: share of tasks solved without ever breaking a passing test",
        of: |row| rate(row, row.zrr, |i| i.zrr, 2),
        known: |_| true,
    },
    Line {
        name: "Iterations",
        hint: "Iterations used, on average",
        of: |row| rate(row, row.average_turns, |i| i.average_turns, 1),
        known: |_| true,
    },
    Line {
        name: "Tokens",
        hint: "Tokens sent to the model and received from it, over all evolutions",
        of: tokens,
        known: |row| row.usage.is_some(),
    },
    Line {
        name: "Cost",
        hint: "In US dollars, by the prices recorded with each run",
        of: cost,
        known: |row| row.micro_usd.is_some(),
    },
    Line {
        name: "Cost per task",
        hint: "US dollars of one evolution on average",
        of: |row| took(row, Rate::UsdPerTask, format::usd),
        known: |row| row.took(Rate::UsdPerTask).is_some(),
    },
    Line {
        name: "Tokens per task",
        hint: "Tokens of one evolution on average, sent and received",
        of: |row| took(row, Rate::TokensPerTask, about),
        known: |row| row.took(Rate::TokensPerTask).is_some(),
    },
    Line {
        name: "Cost per closed test",
        hint: "All dollars over all tests that pass in the end beyond those of the base",
        of: |row| took(row, Rate::UsdPerClosedTest, format::usd),
        known: |row| row.took(Rate::UsdPerClosedTest).is_some(),
    },
    Line {
        name: "Tokens per closed test",
        hint: "All tokens over all tests that pass in the end beyond those of the base",
        of: |row| took(row, Rate::TokensPerClosedTest, about),
        known: |row| row.took(Rate::TokensPerClosedTest).is_some(),
    },
    Line {
        name: "Agent time",
        hint: "Of an iteration, without waiting for the provider",
        of: |row| took(row, Rate::AgentSecondsPerIteration, format::seconds),
        known: |row| row.took(Rate::AgentSecondsPerIteration).is_some(),
    },
    Line {
        name: "Wall time",
        hint: "Of an iteration, with waiting and tests",
        of: |row| took(row, Rate::WallSecondsPerIteration, format::seconds),
        known: |row| row.took(Rate::WallSecondsPerIteration).is_some(),
    },
    Line {
        name: "Rank",
        hint: "On the leaderboard of the split; beside it, the range of ranks in 95\u{a0}% of the resamples",
        of: |row| {
            if row.unranked.is_some() {
                return ("–".to_owned(), "unranked".to_owned());
            }
            let ranks = row.intervals.map(|i| format::ranks(i.rank));
            let ranks = ranks.map(|ranks| format!("[{ranks}]"));
            (row.rank.to_string(), ranks.unwrap_or_default())
        },
        known: |_| true,
    },
];

/// A rate with its interval beside it.
fn rate(row: &Row, rate: f64, of: fn(Intervals) -> Interval, places: usize) -> (String, String) {
    let interval = row.intervals.map(|i| format::interval(of(i), places));
    (format::decimals(rate, places), interval.unwrap_or_default())
}

/// A figure with a note beside it.
pub(super) fn figure_cell((text, beside): (String, String)) -> impl IntoView {
    view! { <td><span class="versus-value">{text}</span>" "<small>{beside}</small></td> }
}

/// "1.9 M in", "12 k out".
fn tokens(row: &Row) -> (String, String) {
    match row.usage {
        None => ("–".to_owned(), "not counted".to_owned()),
        Some(usage) => (
            format!("{} in", about(usage.input_tokens as f64)),
            format!("{} out", about(usage.output_tokens as f64)),
        ),
    }
}

/// "$12.30".
fn cost(row: &Row) -> (String, String) {
    match row.micro_usd {
        None => ("–".to_owned(), "no prices".to_owned()),
        Some(cost) => (format::dollars(cost), String::new()),
    }
}

/// "$0.51", "[$0.40, $0.60]".
fn took(row: &Row, rate: Rate, show: fn(f64) -> String) -> (String, String) {
    match row.took(rate) {
        None => ("–".to_owned(), "not known".to_owned()),
        Some(amount) => {
            let interval = row.took_interval(rate);
            let interval = interval.map(|interval| format::range(interval, show));
            (show(amount), interval.unwrap_or_default())
        }
    }
}

/// "812", "12.3 k", "1.9 M".
fn about(number: f64) -> String {
    let of = |unit: f64, name| format!("{:.1} {name}", number / unit);
    match number.round() as u64 {
        n @ 0..10_000 => format::thousands(n),
        10_000..999_950 => of(1e3, "k"),
        _ => of(1e6, "M"),
    }
}

#[component]
pub(super) fn Heads(
    versus: Versus,
    names: Vec<Name>,
    query: Signal<CompareQuery>,
) -> impl IntoView {
    let runs = &versus.runs;
    let columns = || names.iter().zip(runs);
    let heads =
        columns().map(|(name, row)| view! { <Head name=name.clone() row=row.clone() query/> });
    let heads = view! { <td></td>{heads.collect_any()} }.into_any();
    let lows = runs
        .iter()
        .map(|r| r.intervals.map_or(r.evoscore, |i| i.evoscore.low));
    let floor = floor_of(lows);
    let score = |(name, row): (&Name, &Row)| {
        view! { <ScoreCell row=row.clone() series=name.series floor/> }
    };
    let scores = columns().map(score).collect_any();
    let known = LINES.iter().filter(|line| runs.iter().any(line.known));
    let lines = known.map(|line| {
        let cells = runs.iter().map(|row| figure_cell((line.of)(row)));
        view! {
            <tr>
                <th scope="row">{heading(line.name, line.hint)}</th>
                {cells.collect_any()}
            </tr>
        }
    });
    let lines = lines.collect_any();
    let shared = runs.iter().zip(&versus.left_out);
    let shared = shared.map(|(row, left_out)| figure_cell(task_words(row, *left_out)));
    let shared = shared.collect_any();
    let marks = labels::marks(runs.iter().map(|row| row.mark));
    view! {
        <MarkKey words=Signal::stored(marks)/>
        <PlainTable class="versus-heads" caption="The runs, over the tasks they share" heads>
            <tr>
                <th scope="row"><Term word=Word::EvoScore/></th>
                {scores}
            </tr>
            {lines}
            <tr>
                <th scope="row" title="Tasks that count here, and all scored tasks of the run">"Tasks"</th>
                {shared}
            </tr>
        </PlainTable>
    }
}

/// "40 of 42", "2 left out".
fn task_words(row: &Row, left_out: u32) -> (String, String) {
    let [tasks, scored] = [row.tasks, row.tasks + left_out].map(format::thousands);
    let aside = match left_out {
        0 => "all shared".to_owned(),
        n => format!("{} left out", format::thousands(n)),
    };
    (format!("{tasks} of {scored}"), aside)
}

#[component]
fn Head(name: Name, row: Row, query: Signal<CompareQuery>) -> impl IntoView {
    let query = query.get_untracked();
    let is_baseline = query.baseline.as_ref() == Some(&row.run_id);
    let other = (!is_baseline).then(|| row.run_id.clone());
    let choose = if is_baseline {
        "Compare all pairs"
    } else {
        "Set as baseline"
    };
    let href = query.against(other).href();
    view! {
        <th scope="col">
            <span class="versus-name">
                <Letter letter=name.letter series=name.series/>
                <a href=run_href(&row.run_id)>{row.model.clone()}</a>
            </span>
            <small>{labels::origin(&row.harness, &row.provider)}</small>
            <span class="tags">{is_baseline.then(|| view! { <Tag text="baseline" tone=Tone::Accent/> })}<KindTag kind=row.kind/><ModeTag mode=row.mode/><MarkTag mark=row.mark/><UnrankedTag unranked=row.unranked/></span>
            <small><a href=href>{choose}</a></small>
        </th>
    }
}

#[component]
fn ScoreCell(row: Row, series: Option<usize>, floor: f64) -> impl IntoView {
    let interval = row.intervals.map(|i| i.evoscore);
    let words = interval.map(|interval| {
        view! {
            <span class="visually-hidden">", 95\u{a0}% interval "</span>
            <small>{format::interval(interval, 2)}</small>
        }
    });
    view! {
        <td data-series=series>
            <span class="versus-value versus-score">{format::score(row.evoscore)}</span>
            " "
            {words}
            <ScoreBar value=row.evoscore floor interval/>
        </td>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::usage::Usage;
    use swe_ci_plots::fixture::{leaderboard, leaderboard_of};
    use swe_ci_views::leaderboard::{Effort, EffortRates, UncertaintyModel};
    use swe_ci_views::testing::with_effort;

    #[test]
    fn figures_of_a_run() {
        let mut row = leaderboard(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        let check = |row: &Row, at: usize, text: &str, beside: &str| {
            assert_eq!((LINES[at].of)(row), (text.to_owned(), beside.to_owned()));
        };
        check(&row, 0, "1.00", "");
        check(&row, 2, "0.00", "");
        check(&row, 3, "1.0", "");
        check(&row, 4, "–", "not counted");
        row.usage = Some(Usage {
            input_tokens: 1_940_000,
            output_tokens: 12_300,
            ..Usage::default()
        });
        check(&row, 4, "1.9 M in", "12.3 k out");
        check(&row, 5, "–", "no prices");
        (row.micro_usd, row.tasks) = (Some(12_300_000), 24);
        check(&row, 5, "$12.30", "");
        check(&row, 6, "–", "not known");
        assert!(!(LINES[6].known)(&row) && !(LINES[10].known)(&row));
        row.effort = Some(EffortRates {
            usd_per_task: Some(0.51),
            tokens_per_task: Some(80_833.0),
            tokens_per_closed_test: Some(950.4),
            agent_seconds_per_iteration: Some(200.0),
            ..EffortRates::default()
        });
        check(&row, 6, "$0.51", "");
        check(&row, 7, "80.8 k", "");
        check(&row, 8, "–", "not known");
        check(&row, 9, "950", "");
        check(&row, 10, "3 min 20 s", "");
        row.tasks = 1;
        assert_eq!(task_words(&row, 0).1, "all shared");
        assert_eq!(task_words(&row, 3), ("1 of 4".into(), "3 left out".into()));
    }

    /// One task took $0.10, the other, of another repository, $0.30.
    #[test]
    fn what_it_took_has_an_interval() {
        let run = leaderboard_of(&[("m", vec![&[0.5], &[1.0]])]).entries[0].clone();
        let run = with_effort(run, |task, _| Effort {
            micro_usd: Some([100_000, 300_000][task]),
            ..Effort::default()
        });
        let data = swe_ci_views::testing::leaderboard(vec![run]);
        let row = &UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper)[0];
        let expect = ("$0.20".to_owned(), "[$0.10, $0.30]".to_owned());
        assert_eq!((LINES[6].of)(row), expect);
        assert!((LINES[6].known)(row));
    }

    #[test]
    fn large_numbers() {
        let check = |n, expect: &str| assert_eq!(about(n), expect);
        check(9_999.0, "9999");
        check(10_000.0, "10.0 k");
        check(999_949.0, "999.9 k");
        check(999_950.0, "1.0 M");
    }
}
