//! Where one is told of one's runs, and whether that arrives.

mod data;
mod deliveries;
mod targets;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::own_notifications;
use self::deliveries::Deliveries;
use self::targets::{Mail, Refused, Webhooks};
use crate::components::{Done, PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;

/// What `done=` may say, and what the page says to it.
const DONE: [(&str, &str); 4] = [
    (
        "code",
        "A code is on its way to that address. Type it below.",
    ),
    (
        "confirmed",
        "The address is confirmed: mails go there from now on.",
    ),
    (
        "sent",
        "It is on its way. Load this page again to see what came of it.",
    ),
    ("removed", "It is removed: nothing goes there any more."),
];

#[component]
pub fn NotificationsPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let resource = fetched(|| (), |()| own_notifications());
    view! {
        <PageHead title="Notifications" description="Where you are told of your runs." missing=true/>
        <div class="hero">
            <h1>"Notifications"</h1>
            <p class="lede">
                "Be told when a run of yours is over, when one of its evolutions is blocked, and when its budget is spent."
            </p>
        </div>
        <Done said=done known=&DONE/>
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
