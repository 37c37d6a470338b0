//! The runs in columns, with the figures of the leaderboard.

use leptos::prelude::*;
use swe_ci_views::leaderboard::{Column, Row, Versus};

use super::names::{Letter, Name};
use super::query::CompareQuery;
use crate::components::CollectAny;
use crate::components::{MarkKey, PlainTable, ScoreBar, Tag, Term, Tone, floor_of, heading};
use crate::glossary::Word;
use crate::pages::column_names;
use crate::pages::measured::Measured;
use crate::pages::result_table::{ArmTag, KindTag, MarkTag, ModeTag, UnrankedTag};
use crate::pages::routes::run_href;
use crate::{format, labels};

/// The lines of the table below the score.
const LINES: [Column; 13] = [
    Column::ZeroRegression,
    Column::Solved,
    Column::Zrr,
    Column::Turns,
    Column::Tokens,
    Column::Cost,
    Column::CostPerTask,
    Column::TokensPerTask,
    Column::CostPerTest,
    Column::TokensPerTest,
    Column::AgentTime,
    Column::WallTime,
    Column::Rank,
];

/// A figure of a run and a note beside it; none where it is unknown.
fn figure(column: Column, row: &Row) -> Option<(String, String)> {
    Some(match column {
        Column::Tokens => {
            let usage = row.usage?;
            let [sent, received] = [usage.input_tokens, usage.output_tokens].map(format::compact);
            (format!("{sent} in"), format!("{received} out"))
        }
        Column::Cost => (format::dollars(row.micro_usd?), String::new()),
        Column::Rank if row.unranked.is_some() => ("–".to_owned(), "unranked".to_owned()),
        Column::Rank => {
            let ranks = row.intervals.map(|i| format::ranks(i.rank));
            let ranks = ranks.map(|ranks| format!("[{ranks}]"));
            (row.rank.to_string(), ranks.unwrap_or_default())
        }
        _ => {
            let measured = Measured::of(column, row)?;
            (measured.words()?, measured.range().unwrap_or_default())
        }
    })
}

/// Why a run has no such figure.
fn unknown(column: Column) -> &'static str {
    match column {
        Column::Tokens => "not counted",
        Column::Cost => "no prices",
        _ => "not known",
    }
}

/// A figure with a note beside it.
pub(super) fn figure_cell((text, beside): (String, String)) -> impl IntoView {
    view! { <td><span class="versus-value">{text}</span>" "<small>{beside}</small></td> }
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
    // A line is left out where no run has its figure.
    let lines = LINES.into_iter().filter_map(|column| {
        let figures: Vec<_> = runs.iter().map(|row| figure(column, row)).collect();
        figures
            .iter()
            .any(Option::is_some)
            .then_some((column, figures))
    });
    let lines = lines.map(|(column, figures)| {
        let unknown = || ("–".to_owned(), unknown(column).to_owned());
        let cells = figures
            .into_iter()
            .map(|f| figure_cell(f.unwrap_or_else(unknown)));
        let (name, hint) = (column_names::column(column), column_names::hint(column));
        view! {
            <tr>
                <th scope="row">{heading(name, hint)}</th>
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
            <span class="tags">{is_baseline.then(|| view! { <Tag text="baseline" tone=Tone::Accent/> })}<KindTag kind=row.kind/><ModeTag mode=row.mode/><ArmTag arm=row.arm.clone()/><MarkTag mark=row.mark/><UnrankedTag unranked=row.unranked/></span>
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
        let check = |row: &Row, column, expect: Option<(&str, &str)>| {
            let expect = expect.map(|(text, beside)| (text.to_owned(), beside.to_owned()));
            assert_eq!(figure(column, row), expect);
        };
        check(&row, Column::ZeroRegression, Some(("1.00", "")));
        check(&row, Column::Turns, Some(("1.0", "")));
        check(&row, Column::Tokens, None);
        row.usage = Some(Usage {
            input_tokens: 1_940_000,
            output_tokens: 12_300,
            ..Usage::default()
        });
        check(&row, Column::Tokens, Some(("1.9 M in", "12 k out")));
        check(&row, Column::Cost, None);
        (row.micro_usd, row.tasks) = (Some(12_300_000), 24);
        check(&row, Column::Cost, Some(("$12.30", "")));
        check(&row, Column::CostPerTask, None);
        row.effort = Some(EffortRates {
            tokens_per_task: Some(80_833.0),
            agent_seconds_per_iteration: Some(200.0),
            ..EffortRates::default()
        });
        check(&row, Column::TokensPerTask, Some(("81 k", "")));
        check(&row, Column::CostPerTest, None);
        check(&row, Column::AgentTime, Some(("3.3 min", "")));
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
        assert_eq!(figure(Column::CostPerTask, row), Some(expect));
    }
}
