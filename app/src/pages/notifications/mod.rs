//! The reader's notification targets, and the latest deliveries.

mod deliveries;
mod targets;

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::notification::Notifications;

use self::deliveries::Deliveries;
use self::targets::{Mail, Webhooks};
use crate::components::{Confirmation, PageTop, Refusal, loaded};
use crate::error::AppError;
use crate::fetched::fetched;
use crate::form_answer::{Form, FormAnswer};

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
