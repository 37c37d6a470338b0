//! A leaderboard as a CSV table, and the basis of what leaves the site.

use swe_ci_core::csv::{table, text};
use swe_ci_core::metrics::{Convention, Gamma};

use super::{Column, Columns, Row, Snapshot};
use crate::style::StyleMetric;
use crate::verification::Mark;

/// The basis of the ranking in a table or a citation.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    pub split: String,
    pub gamma: Gamma,
    pub convention: Convention,
    /// Only tasks that a model cannot have seen count.
    pub unseen: bool,
    /// The day of access, `YYYY-MM-DD`.
    pub made_on: String,
    /// The snapshot that it is of; absent for the present.
    pub snapshot: Option<Snapshot>,
}

impl Basis {
    /// The day of the snapshot; empty for the present.
    pub fn snapshot_day(&self) -> &str {
        self.snapshot.as_ref().map_or("", |snapshot| &snapshot.day)
    }

    /// Which tasks count, as addresses say it.
    pub fn seen(&self) -> &'static str {
        match self.unseen {
            true => "exclude",
            false => "include",
        }
    }
}

/// The rows as CSV (RFC 4180, with a header): the basis of the ranking, the
/// identity of the run, and the selected columns, scores with their intervals.
/// Unranked runs have empty ranks and a reason.
pub fn csv(rows: &[Row], columns: Columns, basis: &Basis) -> String {
    let identities = IDENTITY.split(',').map(str::to_owned);
    let heads = identities.chain(columns.shown().flat_map(heads));
    let line = |row| {
        let cells = columns.shown().flat_map(move |column| cells(column, row));
        identity(row, basis).into_iter().chain(cells)
    };
    table(heads, rows.iter().map(line))
}

const IDENTITY: &str = "made_on,snapshot,split,gamma,convention,seen,rank,rank_best,rank_worst,tie_group,\
    run_id,model,provider,harness,harness_version,kind,mode,arm,mark,progress,metric_version,counts_only,unranked";

fn identity(row: &Row, basis: &Basis) -> Vec<String> {
    let is_ranked = row.unranked.is_none();
    let ranks = row.intervals.map(|i| i.rank).filter(|_| is_ranked);
    let number = |n: u32| or_empty(is_ranked.then_some(n));
    vec![
        text(&basis.made_on),
        text(basis.snapshot_day()),
        text(&basis.split),
        basis.gamma.get().to_string(),
        basis.convention.name().to_owned(),
        basis.seen().to_owned(),
        number(row.rank),
        or_empty(ranks.map(|r| r.best)),
        or_empty(ranks.map(|r| r.worst)),
        number(row.tie_group),
        text(&row.run_id),
        text(&row.model),
        text(&row.provider),
        text(&row.harness),
        text(&row.harness_version),
        row.kind.name().to_owned(),
        row.mode.name().to_owned(),
        text(&or_empty(row.arm.as_ref())),
        or_empty(row.mark.map(Mark::name)),
        row.progress.name().to_owned(),
        row.metric_version.to_string(),
        row.counts_only.to_string(),
        text(&or_empty(row.unranked.as_ref())),
    ]
}

/// The headers of a column, one for each of its [`cells`].
fn heads(column: Column) -> Vec<String> {
    let more = match column {
        Column::MiWins => "mi_tie_rate,mi_loss_rate,mi_tasks",
        Column::PylintWins => "pylint_tie_rate,pylint_loss_rate,pylint_tasks",
        Column::Generalisation => "generalisation_asked",
        Column::Cheating => "contradicted_shown",
        Column::Tokens => "input_tokens,output_tokens",
        Column::Cost => "cost_usd",
        Column::Findings => "findings,truncated_steps",
        Column::Tasks => "tasks,tasks_total,tasks_blocked",
        Column::Released => "release_date",
        Column::Finished => "finished_at",
        _ => "",
    };
    let more = more.split(',').filter(|head| !head.is_empty());
    let own = column.measure().map(|measure| measure.heads());
    let own = own.unwrap_or_default().into_iter();
    own.chain(more.map(str::to_owned)).collect()
}

fn cells(column: Column, row: &Row) -> Vec<String> {
    let mut cells = Vec::new();
    if let Some(measure) = column.measure() {
        let interval = measure.interval(row);
        cells.extend([
            or_empty(measure.value(row)),
            or_empty(interval.map(|i| i.low)),
            or_empty(interval.map(|i| i.high)),
        ]);
        cells.truncate(measure.heads().len());
    }
    cells.extend(match column {
        Column::MiWins => not_won(row, StyleMetric::Mi),
        Column::PylintWins => not_won(row, StyleMetric::Pylint),
        Column::Generalisation => vec![or_empty(row.generalisation.map(|rate| rate.asked))],
        Column::Cheating => vec![or_empty(row.cheating.map(|rate| rate.shown))],
        Column::Tokens => vec![
            or_empty(row.usage.map(|u| u.input_tokens)),
            or_empty(row.usage.map(|u| u.output_tokens)),
        ],
        Column::Cost => vec![or_empty(row.micro_usd.map(dollars))],
        Column::Findings => vec![row.findings.to_string(), row.truncated_steps.to_string()],
        Column::Tasks => vec![
            row.tasks.to_string(),
            row.tasks_total.to_string(),
            row.tasks_blocked.to_string(),
        ],
        Column::Released => vec![text(row.release_date.as_deref().unwrap_or_default())],
        Column::Finished => vec![text(row.finished_at.as_deref().unwrap_or_default())],
        _ => Vec::new(),
    });
    cells
}

fn not_won(row: &Row, metric: StyleMetric) -> Vec<String> {
    let rates = row.wins(metric);
    vec![
        or_empty(rates.map(|rates| rates.tie)),
        or_empty(rates.map(|rates| rates.loss)),
        or_empty(rates.map(|rates| rates.tasks)),
    ]
}

/// Exact decimal dollars, unlike a floating-point number.
fn dollars(micro_usd: u64) -> String {
    format!("{}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000)
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::finding::Unranked;

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
    fn a_table() {
        let data = leaderboard(vec![entry("m", &[("r", &[&[-0.5]])])]);
        let mut rows = data.rank(Gamma::ONE, Convention::Paper);
        rows[0].micro_usd = Some(12_345_678);
        let columns = Columns::of_names(["evoscore", "tokens", "cost"]).unwrap();
        assert_eq!(
            csv(&rows, columns, &basis()),
            "made_on,snapshot,split,gamma,convention,seen,rank,rank_best,rank_worst,tie_group,run_id,model,\
             provider,harness,harness_version,kind,mode,arm,mark,progress,metric_version,counts_only,\
             unranked,evoscore,evoscore_low,evoscore_high,input_tokens,output_tokens,cost_usd\r\n\
             2026-11-20,,a_b,1.5,paper,include,1,,,1,run-m,m,,replay,1,measured,tdd,,,finished,1,false,,-0.5,,,,,12.345678\r\n"
        );
        for column in Column::ALL {
            assert_eq!(heads(column).len(), cells(column, &rows[0]).len());
        }
        assert_eq!(csv(&[], Columns::ALL, &basis()).lines().count(), 1);
    }

    #[test]
    fn an_unranked_row_has_a_reason_and_no_ranks() {
        let mut held = entry("m", &[("r", &[&[0.5]]), ("q", &[&[0.5]])]);
        held.unranked = Some(Unranked::HeldForReview { open: 1 });
        let rows = leaderboard(vec![held]).unranked_rows(Gamma::ONE, Convention::Paper);
        let table = csv(&rows, Columns::of_names(["solved"]).unwrap(), &basis());
        let line = table.lines().nth(1).unwrap();
        assert_eq!(
            line,
            "2026-11-20,,a_b,1.5,paper,include,,,,,run-m,m,,replay,1,measured,tdd,,,finished,1,false,\
             held for review (1 open finding),0,,"
        );
    }

    #[test]
    fn text_is_never_a_formula() {
        let check = |value: &str, expect: &str| {
            let table = table(["x"], [[text(value)]]);
            assert_eq!(table, format!("x\r\n{expect}\r\n"), "{value:?}");
        };
        check("GLM-5", "GLM-5");
        check("a,b", "\"a,b\"");
        check("say \"hi\"", "\"say \"\"hi\"\"\"");
        check("two\nlines", "\"two\nlines\"");
        check("=1+1", "'=1+1");
        check("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"");
        for formula in ["+1", "-1", "@sum", "\tx"] {
            check(formula, &format!("'{formula}"));
        }
        check("\r=1", "\"'\r=1\"");
    }
}
