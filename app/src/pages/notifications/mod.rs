//! The reader's notification targets, and the latest deliveries.

mod targets;

use leptos::either::Either;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::notification::{DeliveryState, DeliveryView, Notifications};

use self::targets::{Mail, Webhooks};
use crate::components::{Confirmation, ItemTable, PageTop, Refusal, Tag, Time, Tone, loaded};
use crate::error::AppError;
use crate::fetched::fetched;
use crate::form_answer::{Form, FormAnswer};
use crate::pages::routes::run_href;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 4] = [
    (
        "code",
        "A code is on its way to that address. Type it below.",
    ),
    ("confirmed", "The address is confirmed: mails now go there."),
    (
        "sent",
        "It is on its way. Reload this page to see the result.",
    ),
    ("removed", "It is removed: no more messages go there."),
];

#[server(prefix = "/api/pages", endpoint = "notifications", input = GetUrl)]
pub async fn own_notifications() -> Result<Notifications, AppError> {
    Ok(crate::error::engine()?.notifications().await?)
}

#[component]
pub fn NotificationsPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let resource = fetched(|| (), |()| own_notifications());
    // Why a button of a list did nothing.
    let refused = move || {
        let mut forms = ["test", "remove"].into_iter();
        forms.find_map(|form| Form::new(form, answer).problem("target"))
    };
    view! {
        <PageTop
            title="Notifications"
            description="Notifications about your runs."
            lede="Get a message when a run of yours ends, when one of its evolutions is blocked, and when its budget is spent."
            missing=true
        />
        <Confirmation known=&DONE/>
        {loaded(resource, move |all| view! {
            <Refusal why=refused() tone="warn"/>
            <Webhooks targets=all.targets.clone() form=Form::new("add-webhook", answer)/>
            <Mail targets=all.targets sends_mail=all.sends_mail answer/>
            <Deliveries deliveries=all.deliveries/>
        })}
    }
}

/// The latest messages and their delivery status.
#[component]
fn Deliveries(deliveries: Vec<DeliveryView>) -> impl IntoView {
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
