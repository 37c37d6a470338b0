//! The transcript of one step: the messages between an agent and its model.

mod data;
mod edit;
mod joined;
mod markdown;
mod message;
mod text;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::step::Role;
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{
    Begin, Found, Message, MessagesPage, NearbyStep, RecordedStep, RecordingFormat,
};

use self::data::{Address, LONGEST_TEXT, at, link_to, messages_at, path};
use self::edit::IterationPage;
use self::joined::joined;
use self::message::MessageView;
use crate::components::CollectAny;
use crate::components::{InPlace, PageTop, Term, crumb, fetched, loaded};
use crate::glossary::Word;
use crate::pages::routes::{conversation_href, evolution_href, iteration_href, run_href};
use crate::query::of_address;
use crate::{format, labels};

#[component]
pub fn ConversationPage() -> impl IntoView {
    let address = of_address(Address::of);
    let resource = fetched(move || address.get(), messages_at);
    loaded(
        resource,
        |page| view! { <InPlace/><ConversationView page/> },
    )
}

#[component]
fn ConversationView(page: MessagesPage) -> impl IntoView {
    let (step, total, from) = (page.step, page.total, page.from);
    let (conversations, items, found) = (page.conversations, page.items, page.found);
    let (previous, next) = (page.previous, page.next);
    let q = found.as_ref().map_or("", |found| &found.q).to_owned();
    let marked = StoredValue::new(q.clone());
    if step.role == Role::Programmer {
        let page = iteration_href(&step.run_id, &step.evolution_id, step.iteration);
        provide_context(IterationPage(page));
    }
    let places = view! { <Places step=step.clone() total from items=items.len() previous next q/> };
    let groups = groups(items).into_iter().map(|(number, messages)| {
        let begin = conversations.get(number as usize - 1).cloned();
        view! { <Group number begin messages q=marked/> }
    });
    let groups = groups.collect_any();
    view! {
        <Head step=step.clone() total conversations=conversations.len()/>
        <Finding step=step.clone() found/>
        <Conversations step conversations/>
        {groups}
        {places}
    }
}

#[component]
fn Head(step: RecordedStep, total: u32, conversations: usize) -> impl IntoView {
    let (run_id, evolution_id, model) = (step.run_id, step.evolution_id, step.model);
    let (iteration, role, attempt) = (step.iteration, step.role, step.attempt);
    let (task, role_name) = (step.task_id.to_string(), role.name());
    let messages = format::count(total, "message");
    let summary = match conversations {
        0 | 1 => messages,
        n => format!("{messages} in {n} conversations"),
    };
    let files = format!(
        "/api/v1/evolutions/{evolution_id}/iterations/{iteration}/{role_name}/trajectory?attempt={attempt}"
    );
    let own = iteration_href(&run_id, &evolution_id, iteration);
    let lines = (step.recording == RecordingFormat::Exchanges).then(|| {
        view! { <a href=format!("{files}&format=jsonl") download="">"JSON lines"</a>" · " }
    });
    let nearby = step.nearby;
    let steps = (nearby.len() > 1).then(|| {
        let several = |near: &NearbyStep| {
            let other = |other: &&NearbyStep| {
                (other.iteration, other.role) == (near.iteration, near.role)
            };
            nearby.iter().filter(other).count() > 1
        };
        let one = |near: &NearbyStep| {
            let (of, n) = (near.iteration, near.attempt);
            let href = conversation_href(&run_id, &evolution_id, of, near.role, n);
            let here = (of, near.role, n) == (iteration, role, attempt);
            let words = labels::joined([
                (of != iteration).then(|| format!("iteration {of}")),
                Some(near.role.name().to_owned()),
                several(near).then(|| format!("attempt {n}")),
            ]);
            let tokens = near.tokens.map(|n| format!("{} tokens", format::compact(n)));
            let here = here.then_some("page");
            view! { <a href=href aria-current=here>{words}" "<small>{tokens}</small></a> }
        };
        let links = nearby.iter().map(one).collect_any();
        view! { <nav class="choices transcript-steps" aria-label="Steps"><span class="choices-links">{links}</span></nav> }
    });
    view! {
        <PageTop
            title=format!("The {role_name} in iteration {iteration} of {task} · {model}")
            description=format!("The transcript of the {role_name} and its model {model} in iteration {iteration} of {task}, message by message.")
            crumbs=vec![
                crumb("/runs", "Runs"),
                crumb(run_href(&run_id), &model),
                crumb(evolution_href(&run_id, &task, step.sample), &task),
                crumb(own, format!("Iteration {iteration}")),
            ]
            heading=format!("Transcript of the {role_name}")
        >
            <p class="lede">
                {format!("Attempt {attempt}: {summary}. ")}
                "The "<Term word=Word::Trajectory text="trajectory"/>" as a file: "
                {lines}
                <a href=format!("{files}&format=atif") download="">"ATIF"</a>
            </p>
            {steps}
        </PageTop>
    }
}

/// Links to the start of the other conversations, with their tools.
#[component]
fn Conversations(step: RecordedStep, conversations: Vec<Begin>) -> impl IntoView {
    const MOST: usize = 100;
    (conversations.len() > 1).then(|| {
        let count = format::count(conversations.len(), "conversation");
        let listed = (1..).zip(conversations).take(MOST);
        let one = |(number, begin): (u32, Begin)| {
            let href = at(&step, begin.first, "");
            let messages = format::count(begin.messages, "message");
            view! { <li><a href=href>{called(number)}</a>{format!(": {messages}")}</li> }
        };
        let items = listed.map(one).collect_any();
        view! {
            <details class="fold">
                <summary>{count}</summary>
                <p class="quiet">
                    "Beside its main conversation a harness makes other requests: for a title, a summary, or the work of a sub-agent. The main one comes first, then each of these."
                </p>
                <ol class="plain">{items}</ol>
            </details>
        }
    })
}

/// Consecutive messages of one conversation.
fn groups(items: Vec<Message>) -> Vec<(u32, Vec<Message>)> {
    let mut groups: Vec<(u32, Vec<Message>)> = Vec::new();
    for message in items {
        match groups.last_mut() {
            Some((number, group)) if *number == message.conversation => group.push(message),
            _ => groups.push((message.conversation, vec![message])),
        }
    }
    groups
}

fn called(number: u32) -> String {
    match number {
        1 => "Main conversation".to_owned(),
        n => format!("Conversation {n}, beside it"),
    }
}

#[component]
fn Group(
    number: u32,
    begin: Option<Begin>,
    messages: Vec<Message>,
    q: StoredValue<String>,
) -> impl IntoView {
    let id = format!("conversation-{number}");
    let tools = begin.map(|begin| begin.tools).unwrap_or_default();
    let tools = (!tools.is_empty()).then(|| {
        let names = visible(&tools.join(", ")).into_owned();
        view! { <p class="quiet">{format!("Tools on offer: {}", format::clip(&names, 500))}</p> }
    });
    let messages = joined(messages).into_iter();
    let messages = messages.map(|(message, results)| view! { <MessageView message results q/> });
    view! {
        <section class="messages" aria-labelledby=id>
            <h2 id=id.clone()>{called(number)}</h2>
            {tools}
            {messages.collect_any()}
        </section>
    }
}

/// Links to the previous and next messages.
#[component]
fn Places(
    step: RecordedStep,
    total: u32,
    from: u32,
    items: usize,
    previous: Option<u32>,
    next: Option<u32>,
    q: String,
) -> impl IntoView {
    let last = from + u32::try_from(items).unwrap_or(u32::MAX).saturating_sub(1);
    let summary = (items > 0).then(|| {
        view! { <p class="quiet">{format!("Messages {from} to {last} of {total}")}</p> }
    });
    view! {
        <nav class="paging" aria-label="Messages">
            {link_to(&step, previous, &q, "Earlier messages", "prev")}
            {summary}
            {link_to(&step, next, &q, "Later messages", "next")}
        </nav>
    }
}

/// A form that works without a script: the server renders the hits.
#[component]
fn Finding(step: RecordedStep, found: Option<Found>) -> impl IntoView {
    let q = found.as_ref().map(|found| found.q.clone());
    let q = q.unwrap_or_default();
    let hits = found.map(|found| view! { <Hits step=step.clone() found/> });
    view! {
        <div class="controls controls-plain transcript-find">
            <form method="get" role="search" action=path(&step) class="field">
                <input type="hidden" name="attempt" value=step.attempt.to_string()/>
                <label for="said-q">"Find"</label>
                <input
                    id="said-q"
                    type="search"
                    name="q"
                    maxlength=LONGEST_TEXT.to_string()
                    autocomplete="off"
                    spellcheck="false"
                    value=q
                />
                <button class="button">"Find"</button>
            </form>
            {hits}
        </div>
    }
}

#[component]
fn Hits(step: RecordedStep, found: Found) -> impl IntoView {
    let hits = hits_in_words(&found);
    if found.hits == 0 {
        return Either::Left(view! { <p role="status">{hits}</p> });
    }
    Either::Right(view! {
        <p role="status">{hits}</p>
        {link_to(&step, found.previous, &found.q, "Previous hit", "prev")}
        {link_to(&step, found.next, &found.q, "Next hit", "next")}
    })
}

/// "12 hits in 5 messages; the first here is number 2 of 5".
fn hits_in_words(found: &Found) -> String {
    if found.hits == 0 {
        return "It does not occur.".to_owned();
    }
    let (hits, messages) = (
        format::count(found.hits, "hit"),
        format::count(found.messages, "message"),
    );
    let all = format!("{hits} in {messages}");
    match found.here {
        Some(here) => format!(
            "{all}; the first here is number {here} of {}",
            found.messages
        ),
        None => format!("{all}; all of them are earlier"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let check = |hits, messages, here, expect: &str| {
            let found = Found {
                q: "x".into(),
                hits,
                messages,
                here,
                previous: None,
                next: None,
            };
            assert_eq!(hits_in_words(&found), expect);
        };
        check(0, 0, None, "It does not occur.");
        check(
            1,
            1,
            Some(1),
            "1 hit in 1 message; the first here is number 1 of 1",
        );
        check(
            12,
            5,
            None,
            "12 hits in 5 messages; all of them are earlier",
        );
    }
}
