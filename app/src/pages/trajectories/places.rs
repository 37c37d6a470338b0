//! The steps and iterations behind a number.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::trajectories::{Place, Selection, Subject};

use super::data::Address;
use super::tables::described;
use crate::components::CollectAny;
use crate::components::{ListTable, Part, PartLinks};
use crate::format;
use crate::pages::routes::{PLACES, conversation_href, evolution_href, iteration_href};

/// Places on a page.
const SIZE: usize = 50;

#[component]
pub(super) fn Places(address: Address, selection: Selection, places: Vec<Place>) -> impl IntoView {
    let part = Part::new(address.from, SIZE, places.len());
    let shown = places[part.range()].to_vec();
    let title = format::capital(&described(&selection));
    let count = format::count(places.len(), "place");
    let (run, subject) = (address.run.clone(), selection.subject);
    let close = address.without_places();
    let href = move |from: usize| address.from(from);
    view! {
        <section id=PLACES class="trajectory-places" aria-labelledby="places-title">
            <h2 id="places-title">{title}</h2>
            <p class="quiet">
                {format!("{count}, the largest first.")}
                {part.here()}
                " "
                <a href=close>"Close this list"</a>
                <PartLinks part items="places" href=Callback::new(href)/>
            </p>
            <PlaceTable run subject places=shown/>
        </section>
    }
}

#[component]
pub(super) fn PlaceTable(run: String, subject: Subject, places: Vec<Place>) -> impl IntoView {
    let has_notes = places.iter().any(|place| !place.note.is_empty());
    let columns: &'static [&'static str] = match has_notes {
        true => &["Place", "Task", "Amount", "Note"],
        false => &["Place", "Task", "Amount"],
    };
    let rows = places.into_iter().map(move |place| {
        let href = place_href(&run, &place);
        let sample = (place.sample > 1).then(|| format!(" · sample {}", place.sample));
        let note = has_notes.then(|| {
            let note = visible(&place.note).into_owned();
            view! { <td role="cell" data-label="Note" class="place-note">{note}</td> }
        });
        view! {
            <tr role="row">
                <th role="rowheader" scope="row"><a href=href>{place_name(&place)}</a></th>
                <td role="cell" data-label="Task">{place.task_id.to_string()}{sample}</td>
                <td role="cell" class="number" data-label="Amount">{amount(subject, &place)}</td>
                {note}
            </tr>
        }
    });
    let rows = rows.collect_any();
    view! {
        <ListTable caption="Places" columns>{rows}</ListTable>
    }
}

/// "Programmer, iteration 3, attempt 2".
pub(super) fn place_name(place: &Place) -> String {
    let iteration = format!("iteration {}", place.iteration);
    match place.step {
        None => format::capital(&iteration),
        Some((role, 1)) => format!("{}, {iteration}", format::capital(role.name())),
        Some((role, attempt)) => {
            format!(
                "{}, {iteration}, attempt {attempt}",
                format::capital(role.name())
            )
        }
    }
}

/// The message in the transcript, or the tested iteration, or the evolution.
pub(super) fn place_href(run: &str, place: &Place) -> String {
    let evolution = &place.evolution_id;
    match (place.step, place.message) {
        (Some((role, attempt)), Some(message)) => {
            let step = conversation_href(run, evolution, place.iteration, role, attempt);
            format!("{step}&from={message}#m{message}")
        }
        _ if place.tested => iteration_href(run, evolution, place.iteration),
        _ => evolution_href(run, place.task_id.as_str(), place.sample),
    }
}

fn amount(subject: Subject, place: &Place) -> String {
    let amount = &place.amount;
    match subject {
        Subject::File => format::added_deleted(
            u32::try_from(amount.lines_added).unwrap_or(u32::MAX),
            u32::try_from(amount.lines_removed).unwrap_or(u32::MAX),
        ),
        Subject::Tool | Subject::Command => {
            let calls = format::count(amount.times, "call");
            match amount.marked {
                0 => calls,
                failed => format!("{calls}, {failed} failed"),
            }
        }
        Subject::Loss | Subject::Cause => format::count(amount.times, "test"),
        Subject::Trouble => format::thousands(amount.times),
        Subject::Outcome | Subject::Role | Subject::Iteration | Subject::Failure => {
            let time = format::seconds(amount.seconds);
            match amount.usage.total() {
                0 => time,
                tokens => format!("{} tokens, {time}", format::thousands(tokens)),
            }
        }
    }
}
