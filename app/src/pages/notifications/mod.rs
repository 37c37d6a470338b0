//! The reader's notification targets, and the latest deliveries.

mod data;
mod deliveries;
mod targets;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::own_notifications;
use self::deliveries::Deliveries;
use self::targets::{Mail, Refused, Webhooks};
use crate::components::{Confirmation, PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;

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

#[component]
pub fn NotificationsPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let resource = fetched(|| (), |()| own_notifications());
    view! {
        <PageHead title="Notifications" description="Notifications about your runs." missing=true/>
        <div class="hero">
            <h1>"Notifications"</h1>
            <p class="lede">
                "Get a message when a run of yours ends, when one of its evolutions is blocked, and when its budget is spent."
            </p>
        </div>
        <Confirmation word=done known=&DONE/>
        {loaded(resource, move |all| {
            let (of_webhooks, of_mail) = (answer.clone(), answer.clone());
            view! {
                <Refused answer=answer.clone()/>
                <Webhooks targets=all.targets.clone() answer=of_webhooks/>
                <Mail targets=all.targets sends_mail=all.sends_mail answer=of_mail/>
                <Deliveries deliveries=all.deliveries/>
            }
        })}
    }
}
