use leptos::prelude::*;
use swe_ci_core::account::Visibility;
use swe_ci_core::agent::Protocol;
use swe_ci_core::submission::OWN_PROGRAMMER;

use super::data::Desk;
use super::fields::{Line, Lines, OneOf, id};
use super::preview::Preview;
use super::typed::{FORM, Typed};
use crate::form_answer::FormAnswer;

/// The whole form.
#[component]
pub fn Sheet(desk: Desk, answer: FormAnswer) -> impl IntoView {
    let Desk {
        splits,
        harnesses,
        keys,
        form,
    } = desk;
    let typed = Typed::new(form, &answer);
    let splits = splits.into_iter().map(|split| {
        let tasks = crate::format::count(split.ready, "task");
        let words = format!("{} ({tasks})", split.name);
        (split.name, words)
    });
    let names = keys
        .into_iter()
        .map(|key| view! { <option value=key.name></option> });
    let visibility = answer.kept(FORM, "visibility");
    let ticked = |name| answer.kept(FORM, name).is_some_and(|kept| !kept.is_empty());
    let (untried, forget_keys) = (ticked("skip-preflight"), ticked("forget-keys"));
    let estimate = answer.estimate;
    view! {
        <FromText answer/>
        <form class="sheet" method="post" action="/runs/new" autocomplete="off">
            <Summary typed/>
            <datalist id="key-names">{names.collect_view()}</datalist>
            <fieldset>
                <legend>"Model"</legend>
                <Line typed name="model" label="Name" hint="As the leaderboard shows it."/>
                <Line typed name="provider" label="Who offers it" hint="May be left empty."/>
                <Line typed name="release_date" label="Released on" hint="YYYY-MM-DD, so that tasks it cannot have seen are known. May be left empty."/>
            </fieldset>
            <fieldset>
                <legend>"Harness"</legend>
                <OneOf typed name="harness.name" label="Who plays the agents" options=harnesses.clone()/>
                <Line typed name="harness.version" label="Version" hint="Of an agent program; its pinned one when empty."/>
                <Line typed name="harness.max_chunks" label="Chunks" kind="number" hint="Of replay alone: into how many the history is cut at most."/>
            </fieldset>
            <fieldset>
                <legend>"Endpoint and key"</legend>
                <EndpointFields typed part=&ARCHITECT/>
                <Line
                    typed
                    name="new-key"
                    label="Store a key under that name now"
                    kind="password"
                    secret=true
                    hint="Only if it is not stored yet. It is sealed, and never shown again."
                />
                <label class="box">
                    <input type="checkbox" name="forget-keys" value="on" checked=forget_keys/>
                    "Remove the keys that this run names when it is over"
                </label>
                <Lines typed name="endpoint.parameters" label="Parameters of every request" hint="JSON, such as {\"temperature\": 0}."/>
                <Line typed name="endpoint.prices.input" label="Price of input" hint="US dollars for a million tokens; the site’s price table when empty."/>
                <Line typed name="endpoint.prices.cached" label="Price of cached input"/>
                <Line typed name="endpoint.prices.output" label="Price of output"/>
            </fieldset>
            <Programmer typed harnesses/>
            <fieldset>
                <legend>"What to run"</legend>
                <OneOf typed name="split" label="Split" options=splits.collect()/>
                <Lines typed name="tasks" label="Tasks" hint="Names with spaces or lines between; the whole split when empty."/>
                <Line typed name="samples" label="Evolutions per task" kind="number"/>
                <Line typed name="plan.max_iterations" label="Iterations at most" kind="number"/>
                <Line typed name="plan.max_attempts" label="Tries at a step" kind="number"/>
            </fieldset>
            <Limits typed/>
            <VisibilityFields chosen=visibility/>
            <fieldset>
                <legend>"Before it begins"</legend>
                <p class="quiet">
                    "Its agents are tried on a tiny task, and the quickest of its tasks is tested at both ends, so that a wrong key or a broken image costs a minute and not a night. If something goes wrong, nothing is begun until you say so."
                </p>
                <label class="box">
                    <input type="checkbox" name="skip-preflight" value="on" checked=untried/>
                    "Begin at once, untried"
                </label>
            </fieldset>
            {estimate.map(|estimate| view! { <Preview estimate/> })}
            <p class="sheet-buttons">
                <button class="button button-main" type="submit" name="deed" value="submit">"Queue the run"</button>
                <button class="button" type="submit" name="deed" value="preview">"Preview"</button>
            </p>
        </form>
    }
}

/// All that is wrong, each leading to its field.
#[component]
fn Summary(typed: Typed) -> impl IntoView {
    let items = move || {
        let item = |bad: swe_ci_core::run::BadConfig| {
            let href = format!("#{}", id(&bad.field));
            view! { <li><a href=href rel="external">{bad.field}</a>": "{bad.problem}</li> }
        };
        typed.problems().into_iter().map(item).collect_view()
    };
    let any = move || !typed.problems().is_empty();
    move || {
        any().then(|| {
            view! {
                <div class="note" data-tone="bad" role="alert">
                    <p>"The run is not queued yet. To mend:"</p>
                    <ul>{items}</ul>
                </div>
            }
        })
    }
}

/// What the fields of an endpoint are called.
struct EndpointNames {
    url: &'static str,
    protocol: &'static str,
    model: &'static str,
    key: &'static str,
    recording: &'static str,
}

const ARCHITECT: EndpointNames = EndpointNames {
    url: "endpoint.url",
    protocol: "endpoint.protocol",
    model: "endpoint.model",
    key: "endpoint.key",
    recording: "endpoint.recording",
};

const PROGRAMMER: EndpointNames = EndpointNames {
    url: "programmer.endpoint.url",
    protocol: "programmer.endpoint.protocol",
    model: "programmer.endpoint.model",
    key: "programmer.endpoint.key",
    recording: "programmer.endpoint.recording",
};

#[component]
fn EndpointFields(typed: Typed, part: &'static EndpointNames) -> impl IntoView {
    let protocols = Protocol::ALL.map(|p| (p.name().to_owned(), p.name().to_owned()));
    view! {
        <Line typed name=part.url label="Address" kind="url" hint="Up to its version, such as https://api.example.org/v1. Replay needs none."/>
        <OneOf typed name=part.protocol label="Protocol" options=protocols.to_vec() hint="The one the harness speaks."/>
        <Line typed name=part.model label="Model’s name there"/>
        <Line typed name=part.key label="Name of the key" list="key-names" hint="Of a stored key, never the key itself; none where none is needed."/>
        <Line typed name=part.recording label="Hear a run again" hint="Id of a run whose recorded answers are given instead of asking anybody. Mostly empty."/>
    }
}

#[component]
fn Programmer(typed: Typed, harnesses: Vec<(String, String)>) -> impl IntoView {
    let own = !typed.text(OWN_PROGRAMMER).is_empty();
    view! {
        <fieldset>
            <legend>"Programmer"</legend>
            <label class="box">
                <input
                    type="checkbox"
                    name=OWN_PROGRAMMER
                    value="on"
                    checked=own
                    on:change:target=move |event| {
                        let ticked = if event.target().checked() { "on" } else { "" };
                        typed.changed(OWN_PROGRAMMER, ticked.to_owned());
                    }
                />
                "Is played by another harness or model"
            </label>
            <details open=own>
                <summary>"Which"</summary>
                <OneOf typed name="programmer.harness.name" label="Harness" options=harnesses/>
                <Line typed name="programmer.harness.version" label="Version"/>
                <EndpointFields typed part=&PROGRAMMER/>
            </details>
        </fieldset>
    }
}

#[component]
fn Limits(typed: Typed) -> impl IntoView {
    view! {
        <fieldset>
            <legend>"Budget of the run"</legend>
            <p class="quiet">"When one is spent nothing is begun any more. No limit where it is empty."</p>
            <Line typed name="budget.usd" label="US dollars"/>
            <Line typed name="budget.tokens" label="Tokens" kind="number"/>
            <Line typed name="budget.requests" label="Requests" kind="number"/>
            <Line typed name="budget.seconds" label="Seconds" kind="number"/>
        </fieldset>
        <fieldset>
            <legend>"Limits of a step"</legend>
            <details>
                <summary>"Change them"</summary>
                <Line typed name="limits.agent_seconds" label="Seconds for an agent" kind="number"/>
                <Line typed name="limits.test_seconds" label="Seconds for the tests" kind="number"/>
                <Line typed name="limits.patience_seconds" label="Seconds of waiting for the provider" kind="number"/>
                <Line typed name="limits.cpus_milli" label="Thousandths of a processor" kind="number"/>
                <Line typed name="limits.memory_mb" label="Memory in MiB" kind="number"/>
                <Line typed name="limits.pids" label="Processes" kind="number"/>
                <Line typed name="limits.disk_mb" label="Disk in MiB" kind="number"/>
            </details>
        </fieldset>
    }
}

#[component]
fn VisibilityFields(chosen: Option<String>) -> impl IntoView {
    let public = chosen.as_deref() == Some(Visibility::Public.name());
    let choice = |visibility: Visibility, words: &'static str, checked: bool| {
        view! {
            <label class="box">
                <input type="radio" name="visibility" value=visibility.name() checked=checked/>
                {words}
            </label>
        }
    };
    view! {
        <fieldset>
            <legend>"Who sees it"</legend>
            {choice(Visibility::Private, "You and the administrators; it can be published later", !public)}
            {choice(Visibility::Public, "Everybody, from the start; it is ranked when it is done", public)}
        </fieldset>
    }
}

/// Fills the form from a configuration in TOML.
#[component]
fn FromText(answer: FormAnswer) -> impl IntoView {
    let problem = answer.problem(FORM, "toml");
    let text = answer.kept(FORM, "toml").unwrap_or_default();
    let wrong = problem.is_some();
    view! {
        <details class="from-text" open=wrong>
            <summary>"From a configuration in TOML"</summary>
            <form class="form" method="post" action="/runs/new" enctype="multipart/form-data">
                <div class="form-row">
                    <label for="field-toml-file">"A file"</label>
                    <input id="field-toml-file" type="file" name="toml-file" accept=".toml,application/toml,text/plain"/>
                </div>
                <div class="form-row">
                    <label for="field-toml">"Or its text"</label>
                    <textarea
                        id="field-toml"
                        name="toml"
                        rows="10"
                        spellcheck="false"
                        autofocus=wrong
                        aria-invalid=wrong.then_some("true")
                        aria-describedby=wrong.then_some("field-toml-problem")
                    >
                        {text}
                    </textarea>
                    {problem.map(|why| view! { <p class="form-problem" id="field-toml-problem">{why}</p> })}
                </div>
                <button class="button" type="submit" name="deed" value="read">"Fill the form"</button>
            </form>
        </details>
    }
}
