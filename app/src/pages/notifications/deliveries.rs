//! The latest deliveries of notifications.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::notification::{DeliveryState, DeliveryView, Occasion};

use crate::components::{ItemTable, Tag, Time, Tone};
use crate::pages::routes::run_href;

/// The latest messages and their delivery status.
#[component]
pub fn Deliveries(deliveries: Vec<DeliveryView>) -> impl IntoView {
    view! {
        <section>
            <h2>"Last messages"</h2>
            <p class="quiet">"The newest 50 of the last 30 days."</p>
            <ItemTable
                caption="Your last messages, newest first"
                columns=&["About", "To", "State", "Last try", "Answer", "Next try"]
                items=deliveries
                row=delivery_row
                none="No messages yet."
            />
        </section>
    }
}

fn delivery_row(delivery: DeliveryView) -> impl IntoView {
    let (state, tone) = match delivery.state {
        DeliveryState::Waiting => ("waiting", Tone::Live),
        DeliveryState::Delivered => ("delivered", Tone::Good),
        DeliveryState::GivenUp => ("given up", Tone::Bad),
    };
    let name = delivery.event.name();
    let about = match delivery.run_id {
        Some(run) => Either::Left(view! { <a href=run_href(&run)>{name}</a> }),
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

/// An event, as the end of "tell me when".
pub fn event_words(event: Occasion) -> &'static str {
    match event {
        Occasion::RunFinished => "a run is over",
        Occasion::RunBlocked => "an evolution of it is blocked",
        Occasion::RunBudget => "its budget is spent",
        Occasion::Test => "a test is sent",
        Occasion::Code => "a code is sent",
    }
}
