use leptos::prelude::*;
use swe_ci_views::leaderboard::{Column, Columns, Published, PublishedRow};
use swe_ci_views::view::SplitSummary;

use crate::components::CollectAny;
use crate::components::{Hatching, PublishedBar, Tag, Tone};
use crate::format;
use crate::pages::column_names;

/// Results that are only known from publications: below the ranking, in the
/// same columns, and visibly separate.
#[component]
pub(super) fn PublishedRows(
    published: Published,
    /// The split of the board; none before the first import.
    split: Option<SplitSummary>,
    columns: Columns,
    floor: f64,
    /// Whether the table has no ranked row.
    alone: bool,
) -> impl IntoView {
    let (what, caution) = (what(&published), caution(&published, split.as_ref()));
    // Beside ranked ones, rows about other tasks are a distraction until somebody
    // wants them. The
    // style sheet hides them: a table cannot hold a `details`.
    let comparable = caution.is_none();
    let count = published.rows.len();
    let source = published.source.clone();
    let (tasks, error) = (published.tasks, published.evoscore_error);
    let row = move |row: PublishedRow| view! { <Line row tasks error columns floor/> };
    let rows = published.rows.into_iter().map(row).collect_any();
    view! {
        <tbody role="rowgroup" class="published">
            <tr role="row" class="published-head">
                <th role="rowheader" scope="rowgroup" colspan=columns.shown().count() + 2>
                    <strong>"As published"</strong>
                    <p>
                        {what}
                        {caution.map(|text| view! { " "<strong>{text}</strong> })}
                        " Not ranked: without the raw results, ties, intervals and other γ cannot be computed."
                    </p>
                    <p class="published-source">
                        {source}
                        " "
                        <a href="/api/v1/published">"JSON"</a>
                    </p>
                    <label class="box">
                        <input type="checkbox" class="published-shown" checked=comparable || alone/>
                        {match comparable {
                            true => format!("Show {count} published results"),
                            false => format!("Show {count} published results (other tasks)"),
                        }}
                    </label>
                    <Hatching/>
                </th>
            </tr>
            {rows}
        </tbody>
    }
}

#[component]
fn Line(row: PublishedRow, tasks: u32, error: f64, columns: Columns, floor: f64) -> impl IntoView {
    let provider = (!row.provider.is_empty()).then(|| format!("{} · ", row.provider));
    let model = row.model.clone();
    // Hubs do not tell it.
    let released = Some(row.release_date.clone())
        .filter(|day| !day.is_empty())
        .map(|day| {
            view! {
                <span class="visually-hidden">"released "</span>
                <time datetime=day.clone() title="Release date">{day.clone()}</time>
            }
        });
    let cell = |column| cell(column, &row, tasks, error, floor);
    let cells = columns.shown().map(cell).collect_any();
    view! {
        <tr role="row">
            <td role="cell" class="col-rank">"–"<span class="visually-hidden">" not ranked"</span></td>
            <th role="rowheader" scope="row" class="col-model">
                <span class="model">{model}</span>
                <Tag text="published".to_owned() tone=Tone::Elsewhere hint="As published elsewhere; the raw results are not available here"/>
                <small>
                    {provider}
                    {released}
                </small>
            </th>
            {cells}
        </tr>
    }
}

fn cell(column: Column, row: &PublishedRow, tasks: u32, error: f64, floor: f64) -> AnyView {
    if column == Column::EvoScore {
        return view! {
            <td role="cell" class="col-score">
                <span class="score">
                    <span class="score-figures">
                        <span class="score-number">{format::score(row.evoscore)}</span>
                        {(error > 0.0).then(|| view! {
                            <span class="score-interval">{format!("± {}", format::score(error))}</span>
                        })}
                    </span>
                    <PublishedBar value=row.evoscore floor/>
                </span>
            </td>
        }
        .into_any();
    }
    let known = match column {
        Column::ZeroRegression => row.zero_regression_rate.map(format::share),
        Column::Tasks => Some(format::thousands(tasks)),
        Column::Released => Some(row.release_date.clone()).filter(|day| !day.is_empty()),
        _ => None,
    };
    let class = known.as_ref().map_or("number unknown", |_| "number");
    let text = format::or_dash(known);
    view! { <td role="cell" class=class data-label=column_names::column(column)>{text}</td> }
        .into_any()
}

/// The source of these rows.
fn what(published: &Published) -> String {
    format!(
        "{} on the split {} ({}), at γ = 1, independent of the control.",
        format::count(published.rows.len(), "model"),
        published.split,
        format::count(published.tasks, "task"),
    )
}

/// A warning where the ranked rows are about other tasks.
fn caution(published: &Published, split: Option<&SplitSummary>) -> Option<String> {
    let split = split?;
    let same = split.name == published.split && split.tasks == published.tasks;
    (!same).then(|| {
        let name = &split.name;
        format!("The tasks of {name} differ: these rows are not comparable with its own.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::published;

    #[test]
    fn said_of_published_rows() {
        let rows = published();
        assert_eq!(
            what(&rows),
            "1 model on the split default (100 tasks), at γ = 1, independent of the control."
        );
        let check = |split: Option<(&str, u32)>, cautioned: bool| {
            let split = split.map(|(name, tasks)| SplitSummary {
                name: name.into(),
                tasks,
                ready: 0,
            });
            let said = caution(&rows, split.as_ref());
            assert_eq!(said.is_some(), cautioned, "{split:?}: {said:?}");
        };
        check(None, false);
        check(Some(("default", 100)), false);
        check(Some(("demo", 100)), true);
        // A part of the split is not the whole.
        check(Some(("default", 3)), true);
    }
}
