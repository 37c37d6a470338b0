//! Submitting a run: a form with the fields of a configuration.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_core::agent::Protocol;
use swe_ci_core::provider_key::KeyView;
use swe_ci_views::account::Visibility;
use swe_ci_views::submission::{Estimate, OWN_PROGRAMMER, RunForm};
use swe_ci_views::view::SplitSummary;

use crate::components::{
    Field, Form, FormAnswer, LongText, OneOf, PageTop, TomlFile, fact, fetched, field_id, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::query::{named, of_query};

#[component]
pub fn SubmitPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let from = of_query(|query| named(query, "from"));
    let resource = fetched(move || from.get(), new_run);
    view! {
        <PageTop
            title="New run"
            description="Submit a run: a model, a harness, and the tasks they work on."
            lede="A run applies a model and its harness to the tasks of a split. It waits in the queue until a worker is free."
            missing=true
        />
        {loaded(resource, move |desk| view! { <RunSheet desk answer/> })}
    }
}

/// The choices of the form, and its initial values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Desk {
    /// Those with tasks that can run.
    pub splits: Vec<SplitSummary>,
    /// Name and title.
    pub harnesses: Vec<(String, String)>,
    pub keys: Vec<KeyView>,
    pub form: RunForm,
}

/// `from` is the run whose configuration fills the form.
#[server(prefix = "/api/pages", endpoint = "new-run", input = GetUrl)]
pub async fn new_run(from: Option<String>) -> Result<Desk, AppError> {
    let engine = crate::error::engine()?;
    let keys = engine.key_names().await?;
    let mut splits = engine.splits().await?;
    splits.retain(|split| split.ready > 0);
    let harnesses = engine.harnesses().await?.into_iter();
    let form = match from {
        Some(run) => RunForm::of_config(&engine.configuration_to_copy(&run).await?),
        None => RunForm::fresh(splits.first().map_or("", |split| &split.name)),
    };
    Ok(Desk {
        harnesses: harnesses
            .map(|harness| (harness.name, harness.title))
            .collect(),
        splits,
        keys,
        form,
    })
}

#[component]
fn RunSheet(desk: Desk, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let sent = Form::new("run", answer);
    let form = sent.with_live(desk.form);
    let splits = desk.splits.into_iter().map(|split| {
        let words = format!("{} ({})", split.name, format::count(split.ready, "task"));
        (split.name, words)
    });
    let names = desk
        .keys
        .into_iter()
        .map(|key| view! { <option value=key.name></option> });
    let ticked = |name| sent.kept(name).is_some_and(|kept| !kept.is_empty());
    let estimate = answer.with_value(|answer| answer.estimate);
    view! {
        <FromText sent/>
        <form class="sheet" method="post" action="/runs/new" autocomplete="off">
            <Summary form/>
            <datalist id="key-names">{names.collect_view()}</datalist>
            <fieldset>
                <legend>"Model"</legend>
                <Field form name="model" label="Name" hint="The name on the leaderboard."/>
                <Field form name="provider" label="Provider" hint="Optional."/>
                <Field form name="release_date" label="Released on" hint="YYYY-MM-DD, to find the tasks it cannot have seen. Optional."/>
            </fieldset>
            <fieldset>
                <legend>"Harness"</legend>
                <OneOf form name="harness.name" label="Agents" options=desk.harnesses.clone()/>
                <Field form name="harness.version" label="Version" hint="For agent programs; the pinned version when empty."/>
                <Field form name="harness.max_chunks" label="Chunks" kind="number" hint="For replay only: the most chunks the history is cut into."/>
            </fieldset>
            <fieldset>
                <legend>"Endpoint and key"</legend>
                <EndpointFields form names=ARCHITECT/>
                <Field
                    form
                    name="new-key"
                    label="Store a key under that name now"
                    kind="password"
                    autocomplete="new-password"
                    hint="Only if it is not stored yet. It is stored encrypted and never shown again."
                />
                <label class="box">
                    <input type="checkbox" name="forget-keys" value="on" checked=ticked("forget-keys")/>
                    "Remove the keys that this run names when it is over"
                </label>
                <LongText form name="endpoint.parameters" label="Parameters of every request" hint="JSON, such as {\"temperature\": 0}."/>
                <Field form name="endpoint.prices.input" label="Price of input" hint="US dollars per million tokens; the site’s price table when empty."/>
                <Field form name="endpoint.prices.cached" label="Price of cached input"/>
                <Field form name="endpoint.prices.output" label="Price of output"/>
            </fieldset>
            <Programmer form harnesses=desk.harnesses/>
            <fieldset>
                <legend>"Tasks"</legend>
                <OneOf form name="split" label="Split" options=splits.collect()/>
                <LongText form name="tasks" label="Tasks" hint="Names separated by spaces or lines; the whole split when empty."/>
                <Field form name="samples" label="Evolutions per task" kind="number"/>
                <Field form name="plan.max_iterations" label="Iterations at most" kind="number"/>
                <Field form name="plan.max_attempts" label="Attempts per step" kind="number"/>
            </fieldset>
            <Limits form/>
            <HostedToolsField form/>
            <VisibilityFields chosen=sent.kept("visibility")/>
            <fieldset>
                <legend>"Before it starts"</legend>
                <p class="quiet">
                    "The preflight runs its agents on a tiny task and tests the quickest of its tasks at both ends, so that a wrong key or a broken image costs a minute and not a night. If it fails, the run waits for your decision."
                </p>
                <label class="box">
                    <input type="checkbox" name="skip-preflight" value="on" checked=ticked("skip-preflight")/>
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

/// All validation errors, each with a link to its field.
#[component]
fn Summary(form: Form) -> impl IntoView {
    let items = move || {
        let item = |bad: swe_ci_core::run::BadConfig| {
            let href = format!("#{}", field_id(&bad.field));
            view! { <li><a href=href rel="external">{bad.field}</a>": "{bad.problem}</li> }
        };
        form.problems().into_iter().map(item).collect_view()
    };
    move || {
        (!form.problems().is_empty()).then(|| {
            view! {
                <div class="note" data-tone="bad" role="alert">
                    <p>"The run is not queued yet. Please correct:"</p>
                    <ul>{items}</ul>
                </div>
            }
        })
    }
}

/// The names of an endpoint's fields: address, protocol, model, key, recording.
type EndpointNames = [&'static str; 5];

const ARCHITECT: EndpointNames = [
    "endpoint.url",
    "endpoint.protocol",
    "endpoint.model",
    "endpoint.key",
    "endpoint.recording",
];

const PROGRAMMER: EndpointNames = [
    "programmer.endpoint.url",
    "programmer.endpoint.protocol",
    "programmer.endpoint.model",
    "programmer.endpoint.key",
    "programmer.endpoint.recording",
];

#[component]
fn EndpointFields(form: Form, names: EndpointNames) -> impl IntoView {
    let [url, protocol, model, key, recording] = names;
    let protocols = Protocol::ALL.map(|p| (p.name().to_owned(), p.name().to_owned()));
    view! {
        <Field form name=url label="Address" kind="url" hint="Up to its version, such as https://api.example.org/v1. Replay needs none."/>
        <OneOf form name=protocol label="Protocol" options=protocols.to_vec() hint="The protocol of the harness."/>
        <Field form name=model label="Model’s name there"/>
        <Field form name=key label="Name of the key" list="key-names" hint="The name of a stored key, never the key itself; empty if none is needed."/>
        <Field form name=recording label="Replay a run" hint="The id of a run whose recorded answers replace the model. Mostly empty."/>
    }
}

#[component]
fn Programmer(form: Form, harnesses: Vec<(String, String)>) -> impl IntoView {
    let own = form
        .kept(OWN_PROGRAMMER)
        .is_some_and(|kept| !kept.is_empty());
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
                        form.changed(OWN_PROGRAMMER, ticked.to_owned());
                    }
                />
                "Uses another harness or model"
            </label>
            <details open=own>
                <summary>"Which"</summary>
                <OneOf form name="programmer.harness.name" label="Harness" options=harnesses/>
                <Field form name="programmer.harness.version" label="Version"/>
                <EndpointFields form names=PROGRAMMER/>
            </details>
        </fieldset>
    }
}

#[component]
fn Limits(form: Form) -> impl IntoView {
    view! {
        <fieldset>
            <legend>"Budget of the run"</legend>
            <p class="quiet">"When a limit is reached, no new work starts. Empty means no limit."</p>
            <Field form name="budget.usd" label="US dollars"/>
            <Field form name="budget.tokens" label="Tokens" kind="number"/>
            <Field form name="budget.requests" label="Requests" kind="number"/>
            <Field form name="budget.seconds" label="Seconds" kind="number"/>
        </fieldset>
        <fieldset>
            <legend>"Limits of a step"</legend>
            <details>
                <summary>"Change them"</summary>
                <Field form name="limits.agent_seconds" label="Seconds for an agent" kind="number"/>
                <Field form name="limits.test_seconds" label="Seconds for the tests" kind="number"/>
                <Field form name="limits.patience_seconds" label="Seconds waiting for the provider" kind="number"/>
                <Field form name="limits.cpus_milli" label="Thousandths of a processor" kind="number"/>
                <Field form name="limits.memory_mb" label="Memory in MiB" kind="number"/>
                <Field form name="limits.pids" label="Processes" kind="number"/>
                <Field form name="limits.disk_mb" label="Disk in MiB" kind="number"/>
                <Field form name="limits.code_mb" label="Code in MiB" kind="number"/>
            </details>
        </fieldset>
    }
}

/// Whether the provider may act for the agent.
#[component]
fn HostedToolsField(form: Form) -> impl IntoView {
    const NAME: &str = "allow_hosted_tools";
    let allowed = form.kept(NAME).is_some_and(|kept| !kept.is_empty());
    view! {
        <fieldset>
            <legend>"Tools of the provider"</legend>
            <label class="box">
                <input
                    type="checkbox"
                    name=NAME
                    value="on"
                    checked=allowed
                    on:change:target=move |event| {
                        let ticked = if event.target().checked() { "on" } else { "" };
                        form.changed(NAME, ticked.to_owned());
                    }
                />
                "The provider may search the web and execute code for the agent; such a run is marked and not ranked"
            </label>
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
            <legend>"Visibility"</legend>
            {choice(Visibility::Private, "You and the administrators; it can be published later", !public)}
            {choice(Visibility::Public, "Everybody, from the start; it is ranked when it is done", public)}
        </fieldset>
    }
}

/// Fills the form from a configuration in TOML.
#[component]
fn FromText(sent: Form) -> impl IntoView {
    let wrong = sent.problem("toml").is_some();
    view! {
        <details class="from-text" open=wrong>
            <summary>"From a configuration in TOML"</summary>
            <form class="form" method="post" action="/runs/new" enctype="multipart/form-data">
                <TomlFile name="toml-file" label="A file"/>
                <LongText form=sent name="toml" label="Or its text" rows=10/>
                <button class="button" type="submit" name="deed" value="read">"Fill the form"</button>
            </form>
        </details>
    }
}

/// The estimate for the run, and its basis.
#[component]
fn Preview(estimate: Estimate) -> impl IntoView {
    let hours = |seconds: u64| format::seconds(seconds as f64);
    let [seconds, tokens, money] = [
        estimate.seconds.map(hours),
        estimate.tokens.map(format::thousands),
        estimate.micro_usd.map(format::dollars),
    ]
    .map(|known| known.unwrap_or_else(|| "unknown".to_owned()));
    let disk = format!("{} MiB", format::thousands(estimate.disk_mb));
    let facts = [
        ("Tasks", estimate.tasks.to_string()),
        ("Evolutions", format::thousands(estimate.evolutions)),
        ("Iterations at most", format::thousands(estimate.iterations)),
        ("Work, one after another", seconds),
        ("Tokens", tokens),
        ("Money", money),
        ("Disk per running evolution, at most", disk),
    ];
    let facts = facts.map(|(name, value)| fact(name, value));
    let rests_on = match estimate.rests_on {
        0 => "This site has no earlier evolutions of this harness and model, so time, tokens and money cannot be estimated.".to_owned(),
        n => format!(
            "If every evolution uses all its iterations, each like the median of {} earlier ones of this harness and model.",
            format::thousands(n)
        ),
    };
    view! {
        <section class="note" role="status" aria-labelledby="preview">
            <h2 id="preview">"Estimate"</h2>
            <dl class="facts">{facts.collect_view()}</dl>
            <p class="quiet">{rests_on}" Nothing is queued yet."</p>
        </section>
    }
}
