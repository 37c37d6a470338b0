//! The reader's notification targets, and the latest deliveries.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_views::notification::{
    Channel, DeliveryState, DeliveryView, Notifications, Occasion, TargetView,
};

use crate::components::CollectAny;
use crate::components::{
    Confirmation, Field, Form, FormAnswer, ItemTable, PageTop, PostForm, Refusal, ShownOnce, Tag,
    Time, Tone, fetched, loaded,
};
use crate::error::AppError;
use crate::format;
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
    let answer = Some(delivery.answer).filter(|answer| !answer.is_empty());
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{about}</th>
            <td role="cell" data-label="To" class="target-address">{delivery.address}</td>
            <td role="cell" data-label="State"><Tag text=state tone=tone/>{tries}</td>
            <td role="cell" data-label="Last try"><Time at=delivery.tried_at/></td>
            <td role="cell" data-label="Answer">{format::or_dash(answer)}</td>
            <td role="cell" data-label="Next try"><Time at=delivery.next_try_at/></td>
        </tr>
    }
}

/// The list of webhooks, and a form to add one.
#[component]
fn Webhooks(targets: Vec<TargetView>, form: Form) -> impl IntoView {
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
fn Mail(
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
            {boxes.collect_any()}
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
