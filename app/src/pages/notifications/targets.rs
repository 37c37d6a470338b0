//! Webhooks and the mailbox for notifications.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_views::notification::{Channel, Occasion, TargetView};

use super::deliveries::event_words;
use crate::components::{Field, ListTable, ShownOnce, Time};
use crate::form_answer::FormAnswer;

const ADD_WEBHOOK: &str = "add-webhook";
const ADD_MAILBOX: &str = "add-mailbox";
const CONFIRM: &str = "confirm";

/// Why a button of a list did nothing.
#[component]
pub fn Refused(answer: FormAnswer) -> impl IntoView {
    let why = ["test", "remove"].map(|form| answer.problem(form, "target"));
    let why = why.into_iter().flatten().next()?;
    Some(view! { <p class="note" data-tone="warn" role="alert">{why}</p> })
}

/// The list of webhooks, and a form to add one.
#[component]
pub fn Webhooks(targets: Vec<TargetView>, answer: FormAnswer) -> impl IntoView {
    let made = answer.made(ADD_WEBHOOK).map(|text| {
        view! {
            <ShownOnce
                label="The signing secret of your new webhook"
                text
                advice="Copy it now: it is not shown again and cannot be retrieved."
            />
        }
    });
    view! {
        <section>
            <h2>"Webhooks"</h2>
            <p class="quiet">
                "A signed POST to an address of yours, retried for a day until it arrives."
            </p>
            {made}
            <TargetList targets=of(targets, Channel::Webhook) caption="Your webhooks"/>
            <form class="form" method="post" action="/notifications">
                <input type="hidden" name="deed" value=ADD_WEBHOOK/>
                <Field
                    name="url"
                    label="Address of a new webhook"
                    kind="url"
                    value=answer.kept(ADD_WEBHOOK, "url")
                    hint="https://, at most 2,000 characters; 10 webhooks at most."
                    problem=answer.problem(ADD_WEBHOOK, "url")
                    required=true
                />
                <Events form=ADD_WEBHOOK answer/>
                <button class="button" type="submit">"Add the webhook"</button>
            </form>
        </section>
    }
}

/// The mailbox, or a form to add one.
#[component]
pub fn Mail(targets: Vec<TargetView>, sends_mail: bool, answer: FormAnswer) -> impl IntoView {
    let mailboxes = of(targets, Channel::Mail);
    let unconfirmed = mailboxes.iter().find(|mailbox| !mailbox.confirmed);
    let next = match unconfirmed {
        Some(mailbox) => {
            let target = mailbox.target_id.clone();
            EitherOf3::A(view! { <Confirm target answer/> })
        }
        None if mailboxes.is_empty() && sends_mail => EitherOf3::B(view! { <AddMailbox answer/> }),
        None => EitherOf3::C(()),
    };
    let none_sent = (!sends_mail).then(|| {
        view! { <p class="note">"This installation sends no mails; its operator can set that up."</p> }
    });
    view! {
        <section>
            <h2>"E-mail"</h2>
            {none_sent}
            <TargetList targets=mailboxes caption="Your address"/>
            {next}
        </section>
    }
}

#[component]
fn AddMailbox(answer: FormAnswer) -> impl IntoView {
    view! {
        <form class="form" method="post" action="/notifications">
            <input type="hidden" name="deed" value=ADD_MAILBOX/>
            <Field
                name="address"
                label="Your address"
                kind="email"
                autocomplete="email"
                value=answer.kept(ADD_MAILBOX, "address")
                hint="You first get a code by mail, so that nobody gets unwanted mails."
                problem=answer.problem(ADD_MAILBOX, "address")
                required=true
            />
            <Events form=ADD_MAILBOX answer/>
            <button class="button" type="submit">"Send the code"</button>
        </form>
    }
}

#[component]
fn Confirm(target: String, answer: FormAnswer) -> impl IntoView {
    view! {
        <form class="form" method="post" action="/notifications">
            <input type="hidden" name="deed" value=CONFIRM/>
            <input type="hidden" name="target" value=target/>
            <Field
                name="code"
                label="The code that was sent there"
                autocomplete="one-time-code"
                hint="Valid for a day. No other mail is sent until you enter it here."
                problem=answer.problem(CONFIRM, "code")
                required=true
            />
            <button class="button" type="submit">"Confirm the address"</button>
        </form>
    }
}

/// The events to choose from; all selected by default.
#[component]
fn Events(form: &'static str, answer: FormAnswer) -> impl IntoView {
    let problem = answer.problem(form, "events");
    let id = format!("{form}-events-problem");
    let described = problem.is_some().then(|| id.clone());
    let sent = answer.kept(form, "events").is_some();
    let boxes = Occasion::OF_RUNS.map(|event| {
        let checked = !sent || answer.kept(form, event.name()).is_some();
        view! {
            <label class="box">
                <input type="checkbox" name=event.name() value="on" checked=checked/>
                {event_words(event)}
            </label>
        }
    });
    view! {
        <fieldset class="ticks" aria-describedby=described>
            <legend>"Tell me when"</legend>
            {boxes.collect_view()}
            {problem.map(|problem| view! { <p class="form-problem" id=id>{problem}</p> })}
        </fieldset>
    }
}

#[component]
fn TargetList(
    targets: Vec<TargetView>,
    /// The caption of the list.
    caption: &'static str,
) -> impl IntoView {
    if targets.is_empty() {
        return Either::Left(view! { <p>"You have none."</p> });
    }
    let rows = targets
        .into_iter()
        .map(|target| view! { <TargetRow target/> });
    Either::Right(view! {
        <ListTable caption=caption columns=&["Address", "Events", "Added"] deed="Actions">{rows.collect_view()}</ListTable>
    })
}

#[component]
fn TargetRow(target: TargetView) -> impl IntoView {
    let TargetView {
        target_id,
        address,
        events,
        confirmed,
        created_at,
        ..
    } = target;
    let events = match confirmed {
        true => events
            .into_iter()
            .map(event_words)
            .collect::<Vec<_>>()
            .join("; "),
        false => "The address is not confirmed yet".to_owned(),
    };
    let send = match confirmed {
        true => "Send a test",
        false => "Send another code",
    };
    let (send_label, remove_label) = (format!("{send} to {address}"), format!("Remove {address}"));
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="target-address">{address}</th>
            <td role="cell" data-label="Events">{events}</td>
            <td role="cell" data-label="Added"><Time at=Some(created_at)/></td>
            <td role="cell" data-label="">
                <form class="buttons" method="post" action="/notifications">
                    <input type="hidden" name="target" value=target_id/>
                    <button class="button" type="submit" name="deed" value="test" aria-label=send_label>{send}</button>
                    <button class="button" type="submit" name="deed" value="remove" aria-label=remove_label>"Remove"</button>
                </form>
            </td>
        </tr>
    }
}

fn of(targets: Vec<TargetView>, channel: Channel) -> Vec<TargetView> {
    targets
        .into_iter()
        .filter(|target| target.channel == channel)
        .collect()
}
