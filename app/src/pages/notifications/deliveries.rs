use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::notification::{DeliveryState, DeliveryView, Occasion};

use crate::components::{Listed, Tag, Time, Tone};

/// The last messages, and what became of them.
#[component]
pub fn Deliveries(deliveries: Vec<DeliveryView>) -> impl IntoView {
    let list = match deliveries.is_empty() {
        true => Either::Left(view! { <p>"Nothing was sent yet."</p> }),
        false => Either::Right(view! { <DeliveryList deliveries/> }),
    };
    view! {
        <section>
            <h2>"Last messages"</h2>
            <p class="quiet">"The newest 50 of the last 30 days."</p>
            {list}
        </section>
    }
}

#[component]
fn DeliveryList(deliveries: Vec<DeliveryView>) -> impl IntoView {
    let rows = deliveries
        .into_iter()
        .map(|delivery| view! { <DeliveryRow delivery/> });
    view! {
        <Listed caption="Your last messages, newest first" columns=&["About", "To", "State", "Last try", "Answer", "Next try"]>{rows.collect_view()}</Listed>
    }
}

#[component]
fn DeliveryRow(delivery: DeliveryView) -> impl IntoView {
    let (state, tone) = match delivery.state {
        DeliveryState::Waiting => ("waiting", Tone::Live),
        DeliveryState::Delivered => ("delivered", Tone::Good),
        DeliveryState::GivenUp => ("given up", Tone::Bad),
    };
    let name = delivery.event.name();
    let about = match delivery.run_id {
        Some(run) => Either::Left(view! { <a href=format!("/runs/{run}")>{name}</a> }),
        None => Either::Right(name),
    };
    let tries = match delivery.tries {
        0 | 1 => String::new(),
        n => format!(" ({n} tries)"),
    };
    let answer = match delivery.answer.is_empty() {
        true => "–".to_owned(),
        false => delivery.answer,
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{about}</th>
            <td role="cell" data-label="To" class="target-address">{delivery.address}</td>
            <td role="cell" data-label="State"><Tag text=state tone=tone/>{tries}</td>
            <td role="cell" data-label="Last try"><Time at=delivery.tried_at/></td>
            <td role="cell" data-label="Answer">{answer}</td>
            <td role="cell" data-label="Next try"><Time at=delivery.next_try_at/></td>
        </tr>
    }
}

/// What an event is, after "tell me when".
pub fn event_words(event: Occasion) -> &'static str {
    match event {
        Occasion::RunFinished => "a run is over",
        Occasion::RunBlocked => "an evolution of it is blocked",
        Occasion::RunBudget => "its budget is spent",
        Occasion::Test => "a test is sent",
        Occasion::Code => "a code is sent",
    }
}
