//! Webhooks and the mailbox for notifications.

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_views::notification::{Channel, Occasion, TargetView};

use crate::components::{Field, ItemTable, PostForm, ShownOnce, Time};
use crate::form_answer::{Form, FormAnswer};

/// The list of webhooks, and a form to add one.
#[component]
pub fn Webhooks(targets: Vec<TargetView>, form: Form) -> impl IntoView {
    view! {
        <section>
            <h2>"Webhooks"</h2>
            <p class="quiet">
                "A signed POST to an address of yours, retried for a day until it arrives."
            </p>
            <ShownOnce form label="The signing secret of your new webhook"/>
            <TargetList targets=of(targets, Channel::Webhook) caption="Your webhooks"/>
            <PostForm form action="/notifications" button="Add the webhook">
                <Field
                    form
                    name="url"
                    label="Address of a new webhook"
                    kind="url"
                    hint="https://, at most 2,000 characters; 10 webhooks at most."
                    required=true
                />
                <Events form/>
            </PostForm>
        </section>
    }
}

/// The mailbox, or a form to add one.
#[component]
pub fn Mail(
    targets: Vec<TargetView>,
    sends_mail: bool,
    answer: StoredValue<FormAnswer>,
) -> impl IntoView {
    let mailboxes = of(targets, Channel::Mail);
    let unconfirmed = mailboxes.iter().find(|mailbox| !mailbox.confirmed);
    let next = match unconfirmed {
        Some(mailbox) => {
            let target = mailbox.target_id.clone();
            EitherOf3::A(view! { <Confirm target form=Form::new("confirm", answer)/> })
        }
        None if mailboxes.is_empty() && sends_mail => {
            EitherOf3::B(view! { <AddMailbox form=Form::new("add-mailbox", answer)/> })
        }
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
fn AddMailbox(form: Form) -> impl IntoView {
    view! {
        <PostForm form action="/notifications" button="Send the code">
            <Field
                form
                name="address"
                label="Your address"
                kind="email"
                autocomplete="email"
                hint="You first get a code by mail, so that nobody gets unwanted mails."
                required=true
            />
            <Events form/>
        </PostForm>
    }
}

#[component]
fn Confirm(target: String, form: Form) -> impl IntoView {
    view! {
        <PostForm form action="/notifications" button="Confirm the address">
            <input type="hidden" name="target" value=target/>
            <Field
                form
                name="code"
                label="The code that was sent there"
                autocomplete="one-time-code"
                hint="Valid for a day. No other mail is sent until you enter it here."
                required=true
            />
        </PostForm>
    }
}

/// The events to choose from; all selected by default.
#[component]
fn Events(form: Form) -> impl IntoView {
    let problem = form.problem("events");
    let id = format!("{}-events-problem", form.name);
    let described = problem.is_some().then(|| id.clone());
    let sent = form.kept("events").is_some();
    let boxes = Occasion::OF_RUNS.map(|event| {
        let checked = !sent || form.kept(event.name()).is_some();
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
fn TargetList(targets: Vec<TargetView>, caption: &'static str) -> impl IntoView {
    view! {
        <ItemTable
            caption
            columns=&["Address", "Events", "Added"]
            deed="Actions"
            items=targets
            row=target_row
            none="You have none."
        />
    }
}

fn target_row(target: TargetView) -> impl IntoView {
    let events: Vec<&str> = target.events.into_iter().map(event_words).collect();
    let (events, send) = match target.confirmed {
        true => (events.join("; "), "Send a test"),
        false => (
            "The address is not confirmed yet".to_owned(),
            "Send another code",
        ),
    };
    let address = target.address;
    let (send_label, remove_label) = (format!("{send} to {address}"), format!("Remove {address}"));
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="target-address">{address}</th>
            <td role="cell" data-label="Events">{events}</td>
            <td role="cell" data-label="Added"><Time at=Some(target.created_at)/></td>
            <td role="cell" data-label="">
                <form class="buttons" method="post" action="/notifications">
                    <input type="hidden" name="target" value=target.target_id/>
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

/// An event, as the end of "tell me when".
fn event_words(event: Occasion) -> &'static str {
    match event {
        Occasion::RunFinished => "a run is over",
        Occasion::RunBlocked => "an evolution of it is blocked",
        Occasion::RunBudget => "its budget is spent",
        Occasion::Test => "a test is sent",
        Occasion::Code => "a code is sent",
    }
}
