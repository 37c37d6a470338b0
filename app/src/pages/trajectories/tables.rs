//! The tables, each about one subject, of one run or of two side by side.

use leptos::prelude::*;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::text::visible;
use swe_ci_views::trajectories::{Row, Selection, Subject, Trajectories};

use super::sections::{Column, Link, SECTIONS, Section};
use crate::components::CardTable;
use crate::components::CollectAny;
use crate::pages::routes::trajectories_href;
use crate::{format, labels};

/// Rows before the others are folded.
const SHOWN: usize = 12;
const LONGEST_NAME: usize = 80;

#[component]
pub(super) fn Tables(runs: Vec<Trajectories>) -> impl IntoView {
    let section = |section: &'static Section| {
        let id = format!("{}-title", section.subject.name());
        let rows = rows(&runs, section.subject);
        let more = runs.iter().flat_map(|run| &run.tables);
        let more: u32 = more
            .filter(|table| table.subject == section.subject)
            .map(|table| table.more)
            .sum();
        let body = match rows.is_empty() {
            true => view! { <p>{none(section.subject)}</p> }.into_any(),
            false => table(section, &runs, rows, more),
        };
        view! {
            <section class="trajectory-table" aria-labelledby=id.clone()>
                <h2 id=id.clone()>{section.title}</h2>
                <p class="quiet">{section.note}</p>
                {body}
            </section>
        }
    };
    SECTIONS.iter().map(section).collect_any()
}

fn none(subject: Subject) -> &'static str {
    match subject {
        Subject::Outcome | Subject::Role | Subject::Iteration => "No step is recorded.",
        Subject::Tool => "No tool call is recorded.",
        Subject::Command => "No command is recorded.",
        Subject::File => "No change of the code is recorded.",
        Subject::Failure => "Every step has a result.",
        Subject::Trouble => "None was found.",
        Subject::Loss | Subject::Cause => "No iteration lost a test.",
    }
}

/// A name with its row in each run.
type Named = (String, Vec<Option<Row>>);

/// The names in the order of the first run, then those that only others have.
fn rows(runs: &[Trajectories], subject: Subject) -> Vec<Named> {
    let mut named: Vec<Named> = Vec::new();
    for (position, run) in runs.iter().enumerate() {
        for row in run.rows(subject) {
            let known = named.iter_mut().find(|(name, _)| *name == row.name);
            let cells = match known {
                Some((_, cells)) => cells,
                None => {
                    named.push((row.name.clone(), vec![None; runs.len()]));
                    &mut named.last_mut().expect("a row was added").1
                }
            };
            cells[position] = Some(row.clone());
        }
    }
    if subject == Subject::Iteration {
        named.sort_by_key(|(name, _)| name.parse::<u32>().ok());
    }
    named
}

fn table(
    section: &'static Section,
    runs: &[Trajectories],
    mut rows: Vec<Named>,
    more: u32,
) -> AnyView {
    let folded = rows.split_off(rows.len().min(SHOWN));
    let shown = part(section, runs, rows);
    let count = folded.len();
    let folded = (count > 0).then(|| {
        let beyond = (more > 0).then(|| {
            let more = format::thousands(more);
            view! { <p class="quiet">{format!("{more} more with smaller numbers are not listed.")}</p> }
        });
        view! {
            <details class="fold">
                <summary>{format!("{count} more")}</summary>
                {part(section, runs, folded)}
                {beyond}
            </details>
        }
    });
    (shown, folded).into_any()
}

fn part(section: &'static Section, runs: &[Trajectories], rows: Vec<Named>) -> AnyView {
    let columns = section.columns.iter();
    let columns = columns.filter(|column| runs.len() == 1 || !column.alone);
    let heads: Vec<String> = columns
        .clone()
        .flat_map(|column| {
            (0..runs.len()).map(|position| match runs.len() {
                1 => column.head.to_owned(),
                _ => format!("{} {}", column.head, letter(position)),
            })
        })
        .collect();
    let body = rows.into_iter().map(|(name, cells)| {
        let label = label(section.subject, &name);
        let cells = columns.clone().flat_map(|column| {
            let cells = cells.iter().enumerate();
            cells.map(|(position, row)| cell(section.subject, column, runs, position, row.as_ref()))
        });
        let cells = heads.clone().into_iter().zip(cells.collect::<Vec<_>>());
        let cells = cells.map(|(head, cell)| {
            view! { <td role="cell" class="number" data-label=head>{cell}</td> }
        });
        view! { <tr role="row"><th role="rowheader" scope="row">{label}</th>{cells.collect_any()}</tr> }
    });
    let body = body.collect_any();
    let head =
        |text: String| view! { <th role="columnheader" scope="col" class="number">{text}</th> };
    let numbers = heads.iter().cloned().map(head).collect_any();
    let heads = view! { <th role="columnheader" scope="col">{section.names}</th>{numbers} };
    let heads = heads.into_any();
    let wide = section.columns.len() > 5;
    let class = match wide {
        true => "list cards trajectory-rows effort",
        false => "list cards trajectory-rows",
    };
    view! {
        <CardTable class caption=section.title heads>{body}</CardTable>
    }
    .into_any()
}

/// "A", "B": the runs side by side.
pub(super) fn letter(position: usize) -> char {
    char::from(b'A' + u8::try_from(position).unwrap_or_default())
}

/// A number, and where it leads; a dash where the run has no such row.
fn cell(
    subject: Subject,
    column: &Column,
    runs: &[Trajectories],
    position: usize,
    row: Option<&Row>,
) -> AnyView {
    let Some((row, text)) = row.and_then(|row| Some((row, (column.value)(&row.amount)?))) else {
        return "–".into_any();
    };
    let marked = column.leads_to == Link::Marked;
    if column.leads_to == Link::None || marked && row.amount.marked == 0 {
        return text.into_any();
    }
    let selection = Selection {
        subject,
        name: row.name.clone(),
        marked,
    };
    let other = runs
        .iter()
        .enumerate()
        .find(|(other, _)| *other != position);
    let other = other.map(|(_, run)| run.run_id.as_str());
    let href = trajectories_href(&runs[position].run_id, other, Some(&selection), 0);
    let label = format!("{text}: {}", described(&selection));
    view! { <a href=href rel="nofollow" aria-label=label>{text.clone()}</a> }.into_any()
}

/// The name of a row.
fn label(subject: Subject, name: &str) -> AnyView {
    match subject {
        Subject::Tool | Subject::Command | Subject::File => {
            let name = visible(name).into_owned();
            view! { <code>{format::clip(&name, LONGEST_NAME)}</code> }.into_any()
        }
        _ => format::capital(&words(subject, name)).into_any(),
    }
}

/// A row's name in words.
fn words(subject: Subject, name: &str) -> String {
    match subject {
        Subject::Outcome => {
            let (role, outcome) = name.split_once('/').unwrap_or((name, ""));
            let known = StepOutcome::from_name(outcome);
            let outcome = known.map_or(outcome, |outcome| labels::outcome(outcome).0);
            format!("{role}: {outcome}")
        }
        Subject::Iteration => format!("iteration {name}"),
        Subject::Failure => labels::failure(name).to_owned(),
        Subject::Trouble => labels::trouble(name).to_owned(),
        Subject::Cause => labels::loss(name).to_owned(),
        Subject::Loss if name == "lost" => "lost tests".to_owned(),
        Subject::Role if Role::from_name(name).is_some() => name.to_owned(),
        _ => visible(name).into_owned(),
    }
}

/// The selected places in words: "failed calls of bash".
pub(super) fn described(selection: &Selection) -> String {
    let words = words(selection.subject, &selection.name);
    match (selection.subject, selection.marked) {
        (Subject::Tool | Subject::Command, false) => format!("calls of {words}"),
        (Subject::Tool | Subject::Command, true) => format!("failed calls of {words}"),
        (Subject::File, false) => format!("changes of {words}"),
        (Subject::File, true) => format!("earlier contents of {words}"),
        (Subject::Role, _) => format!("steps of the {words}"),
        (Subject::Iteration, _) => format!("steps of {words}"),
        (Subject::Loss, _) => format!("iterations that {words}"),
        (Subject::Cause, _) => format!("iterations that lost tests: {words}"),
        (Subject::Failure, _) => format!("steps without a result: {words}"),
        (Subject::Outcome | Subject::Trouble, _) => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_in_words() {
        let check = |subject, name: &str, marked, expect: &str| {
            let name = name.to_owned();
            let selection = Selection {
                subject,
                name,
                marked,
            };
            assert_eq!(described(&selection), expect);
        };
        check(Subject::Tool, "bash", true, "failed calls of bash");
        check(Subject::File, "a.py", false, "changes of a.py");
        check(
            Subject::Outcome,
            "programmer/no_change",
            false,
            "programmer: nothing changed",
        );
        check(Subject::Loss, "lost", false, "iterations that lost tests");
        check(
            Subject::Loss,
            "collapsed",
            false,
            "iterations that collapsed",
        );
        check(
            Subject::Trouble,
            "truncated",
            false,
            "answers cut off at their maximum length",
        );
    }

    #[test]
    fn every_table_has_a_section() {
        for subject in Subject::ALL {
            assert!(SECTIONS.iter().any(|section| section.subject == subject));
        }
    }
}
