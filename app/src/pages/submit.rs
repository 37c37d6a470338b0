//! Submitting a run: a form with the fields of a configuration.

use leptos::prelude::*;
use swe_ci_core::agent::Budget;
use swe_ci_core::handover::HandoverTarget;
use swe_ci_core::provider_key::KeyView;
use swe_ci_core::requirement::Mode;
use swe_ci_views::account::Visibility;
use swe_ci_views::submission::{Estimate, OWN_PROGRAMMER, RunForm};
use swe_ci_views::view::SplitSummary;

use crate::components::CheckedForm;
use crate::components::CollectAny;
use crate::components::{
    Field, Form, FormAnswer, InPlace, LongText, OneOf, PageTop, TomlFile, fact, fetched, field_id,
    loaded,
};
use crate::error::AppError;
use crate::query::{named, of_query};
use crate::{format, labels};

#[component]
pub fn SubmitPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let from = of_query(|query| named(query, "from"));
    let resource = fetched(move || from.get(), new_run);
    view! {
        <PageTop
            title="New run"
            description="Submit a run: a model, a harness, and the tasks they work on."
            lede="The run waits in the queue until a worker is free."
            missing=true
        />
        <InPlace/>
        {loaded(resource, move |desk| view! { <RunForm desk answer/> })}
    }
}

/// The choices of the form, and its initial values.
#[derive(Debug, Clone, PartialEq)]
pub struct Desk {
    /// Those with tasks that can run.
    pub splits: Vec<SplitSummary>,
    /// Name and title.
    pub harnesses: Vec<(String, String)>,
    pub keys: Vec<KeyView>,
    /// Of runs that name no budget.
    pub default_budget: Budget,
    pub form: RunForm,
}

/// `from` is the run whose configuration fills the form.
pub async fn new_run(from: Option<String>) -> Result<Desk, AppError> {
    let engine = crate::error::engine()?;
    let keys = engine.key_names().await?;
    let mut splits = engine.splits().await?;
    splits.retain(|split| split.ready > 0);
    let harnesses = engine.harnesses().await?.into_iter();
    let form = match from {
        Some(run) => RunForm::of_config(&engine.configuration_to_copy(&run).await?),
        None => {
            let split = splits.first().map_or("", |split| &split.name);
            RunForm::fresh(split)
        }
    };
    Ok(Desk {
        harnesses: harnesses
            .map(|harness| (harness.name, harness.title))
            .collect(),
        splits,
        keys,
        default_budget: *engine.default_budget(),
        form,
    })
}

#[component]
fn RunForm(desk: Desk, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let sent = Form::new("run", answer);
    let form = sent.checked(desk.form);
    let budget_hint = match labels::budget(&desk.default_budget) {
        Some(budget) => format!(
            "Without any limit of its own, a run gets this site's: {budget}. The limit in money holds where prices are known."
        ),
        None => "Empty means no limit.".to_owned(),
    };
    let splits = desk.splits.into_iter().map(|split| {
        let words = format!("{} ({})", split.name, format::count(split.ready, "task"));
        (split.name, words)
    });
    let names = desk
        .keys
        .into_iter()
        .map(|key| view! { <option value=key.name></option> });
    let ticked = move |name| sent.kept(name).is_some_and(|kept| !kept.is_empty());
    let estimate = answer.with_value(|answer| answer.estimate);
    view! {
        <FromText sent/>
        <CheckedForm>
        <form class="run-form" method="post" action="/runs/new" autocomplete="off" data-in-place="">
            <Summary form/>
            <datalist id="key-names">{names.collect_any()}</datalist>
            <fieldset>
                <legend>"Model"</legend>
                <Field form name="model" label="Name" hint="The name on the leaderboard."/>
                <Field form name="provider" label="Provider" hint="Optional."/>
                <Field form name="release_date" label="Released on" hint="YYYY-MM-DD, to find unseen tasks."/>
                <Field form name="training_cutoff" label="Training data up to" hint="YYYY-MM-DD, if the provider says so."/>
            </fieldset>
            <fieldset>
                <legend>"Connection"</legend>
                <OneOf form name="harness.name" label="Harness" options=desk.harnesses.clone()/>
                <div class="only-replay">
                    <Field form name="harness.max_chunks" label="Chunks" kind="number" hint="The most chunks the history is cut into."/>
                </div>
                <div class="only-models">
                    <EndpointFields form names=ARCHITECT/>
                </div>
                <details class="only-models whole-row" open=sent.problem("new-key").is_some()>
                    <summary>"Store a key under that name now"</summary>
                    <Field
                        form
                        name="new-key"
                        label="Key"
                        kind="password"
                        autocomplete="new-password"
                        hint="Only if it is not stored yet. It is stored encrypted and never shown again."
                    />
                </details>
            </fieldset>
            <fieldset>
                <legend>"Tasks"</legend>
                <OneOf form name="split" label="Split" options=splits.collect()/>
                <div class="only-models">
                    <OneOf form name="mode" label="The programmer works from" options=modes()/>
                </div>
                <div class="only-models">
                    <Field form name="handover.run" label="Continue the code of another run" hint="The id of a finished run; the base of each task when empty. Such a run is not ranked."/>
                    <Field form name="handover.iteration" label="Its code after iteration" kind="number" hint="The last scored one of each evolution when empty."/>
                    <OneOf form name="handover.target" label="Towards" options=handover_targets()/>
                </div>
                <Field form name="samples" label="Evolutions per task" kind="number"/>
                <Field form name="plan.max_iterations" label="Iterations at most" kind="number"/>
                <LongText form name="tasks" label="Only these tasks" rows=1 hint="Names; the whole split when empty."/>
            </fieldset>
            <fieldset>
                <legend>"Budget"</legend>
                <Field form name="budget.usd" label="US dollars at most" hint=budget_hint/>
                <Field form name="budget.tokens" label="Tokens at most" kind="number"/>
                <Field form name="budget.requests" label="Requests at most" kind="number"/>
                <Field form name="budget.seconds" label="Seconds at most" kind="number"/>
                <Field form name="evolution_budget.usd" label="US dollars of each evolution" hint="An evolution that has spent its own budget is scored with what it reached."/>
                <Field form name="evolution_budget.tokens" label="Tokens of each evolution" kind="number"/>
                <Field form name="evolution_budget.requests" label="Requests of each evolution" kind="number"/>
            </fieldset>
            <Advanced form harnesses=desk.harnesses forgets=ticked("forget-keys")/>
            <fieldset>
                <legend>"Review"</legend>
                <VisibilityFields chosen=sent.kept("visibility")/>
                <label class="box whole-row">
                    <input type="checkbox" name="skip-preflight" value="on" checked=ticked("skip-preflight") aria-describedby="preflight-hint"/>
                    "Skip the preflight"
                </label>
                <p class="quiet whole-row" id="preflight-hint">
                    "It tries the agents on a tiny task, and the quickest task at both ends, in some minutes. If it fails, the run waits for your decision."
                </p>
            </fieldset>
            {estimate.map(|estimate| view! { <Preview estimate/> })}
            <p class="run-form-buttons">
                <button class="button button-main" type="submit" name="deed" value="submit">"Queue the run"</button>
                <button class="button" type="submit" name="deed" value="preview">"Preview"</button>
            </p>
        </form>
        </CheckedForm>
    }
}

fn handover_targets() -> Vec<(String, String)> {
    let words = |target| match target {
        HandoverTarget::Same => "the target that run had",
        HandoverTarget::Moved => "a later target: that run ended where these tasks begin",
    };
    let targets = HandoverTarget::ALL.into_iter();
    targets
        .map(|target| (target.name().to_owned(), words(target).to_owned()))
        .collect()
}

/// Names and descriptions of the modes.
fn modes() -> Vec<(String, String)> {
    let words = |mode| match mode {
        Mode::Tdd => "requirements and tests (tdd)",
        Mode::Rdd => "requirements alone (rdd)",
    };
    let modes = Mode::ALL.into_iter();
    modes
        .map(|mode| (mode.name().to_owned(), words(mode).to_owned()))
        .collect()
}

/// All validation errors, each with a link to its field.
#[component]
fn Summary(form: Form) -> impl IntoView {
    let items = move || {
        let item = |bad: swe_ci_core::run::BadConfig| {
            let href = format!("#{}", field_id(&bad.field));
            view! { <li><a href=href>{label_of(&bad.field).to_owned()}</a>": "{bad.problem}</li> }
        };
        form.problems().into_iter().map(item).collect_any()
    };
    move || {
        (!form.problems().is_empty()).then(|| {
            view! {
                <div class="note" data-tone="bad" role="alert" tabindex="-1" data-result="">
                    <p>"Fix these fields to queue the run:"</p>
                    <ul>{items}</ul>
                </div>
            }
        })
    }
}

/// The names of an endpoint's fields: address, model, key.
type EndpointNames = [&'static str; 3];

const ARCHITECT: EndpointNames = ["endpoint.url", "endpoint.model", "endpoint.key"];

const PROGRAMMER: EndpointNames = [
    "programmer.endpoint.url",
    "programmer.endpoint.model",
    "programmer.endpoint.key",
];

const BASE_URL: &str = "Base URL";
const MODEL_ID: &str = "Model id";
const API_KEY: &str = "API key";

/// The label of a field of an endpoint; the name of any other.
fn label_of(field: &str) -> &str {
    match field.strip_prefix("programmer.").unwrap_or(field) {
        "endpoint.url" => BASE_URL,
        "endpoint.model" => MODEL_ID,
        "endpoint.key" => API_KEY,
        _ => field,
    }
}

#[component]
fn EndpointFields(form: Form, names: EndpointNames) -> impl IntoView {
    let [url, model, key] = names;
    view! {
        <Field form name=url label=BASE_URL kind="url" hint="Such as https://api.example.org/v1."/>
        <Field form name=model label=MODEL_ID hint="As the provider knows it."/>
        <Field form name=key label=API_KEY list="key-names" hint="The name of a stored key; empty if none is needed."/>
    }
}

/// The settings that most runs leave alone. They are open when one of them has to
/// be corrected.
#[component]
fn Advanced(form: Form, harnesses: Vec<(String, String)>, forgets: bool) -> impl IntoView {
    const PARTS: [&str; 9] = [
        "harness.version",
        "endpoint.parameters",
        "endpoint.headers",
        "endpoint.prices",
        "endpoint.recording",
        "plan.max_attempts",
        "limits.",
        "programmer.",
        "needs",
    ];
    let own = form
        .kept(OWN_PROGRAMMER)
        .is_some_and(|kept| !kept.is_empty());
    let problems = form.problems();
    let wrong = problems
        .iter()
        .any(|bad| PARTS.iter().any(|part| bad.field.starts_with(part)));
    view! {
        <details class="run-form-advanced" open=own || wrong>
            <summary>"Advanced: versions, parameters, prices, a second programmer, limits of a step, workers"</summary>
            <fieldset>
                <legend>"Requests"</legend>
                <div class="whole-row">
                    <LongText form name="endpoint.parameters" label="Parameters of every request" rows=1 hint="JSON, such as {\"temperature\": 0}."/>
                </div>
                <div class="whole-row">
                    <LongText form name="endpoint.headers" label="Further headers of every request" rows=1 hint="JSON, such as {\"x-team\": \"a\", \"x-proxy-token\": {\"key\": \"proxy\"}}; the second is the text of a stored key."/>
                </div>
                <div class="only-programs">
                    <Field form name="harness.version" label="Version of the agents" hint="The pinned one when empty."/>
                </div>
                <Field form name="endpoint.prices.input" label="Price of input" hint="US dollars per million tokens; the site’s price table when empty."/>
                <Field form name="endpoint.prices.cached" label="Price of cached input"/>
                <Field form name="endpoint.prices.output" label="Price of output"/>
                <Field form name="endpoint.recording" label="Replay recorded responses from run" hint="The id of a run whose recorded responses replace the model."/>
                <label class="box whole-row">
                    <input type="checkbox" name="forget-keys" value="on" checked=forgets/>
                    "Remove the keys that this run names when it is over"
                </label>
                <HostedToolsField form/>
            </fieldset>
            <Programmer form own harnesses/>
            <StepLimits form/>
            <fieldset>
                <legend>"Workers"</legend>
                <Field form name="needs" label="Only workers with" hint="Labels that workers offer, such as arch=amd64, gpu=yes; any worker when empty."/>
            </fieldset>
        </details>
    }
}

#[component]
fn Programmer(form: Form, own: bool, harnesses: Vec<(String, String)>) -> impl IntoView {
    view! {
        <fieldset>
            <legend>"Programmer"</legend>
            <label class="box whole-row">
                <input type="checkbox" name=OWN_PROGRAMMER value="on" checked=own/>
                "Uses another harness or model than the architect"
            </label>
            <div class="only-own-programmer">
                <OneOf form name="programmer.harness.name" label="Harness" options=harnesses/>
                <Field form name="programmer.harness.version" label="Version"/>
                <EndpointFields form names=PROGRAMMER/>
                <Field form name="programmer.endpoint.recording" label="Replay recorded responses from run"/>
            </div>
        </fieldset>
    }
}

#[component]
fn StepLimits(form: Form) -> impl IntoView {
    view! {
        <fieldset>
            <legend>"Limits of a step"</legend>
            <Field form name="plan.max_attempts" label="Attempts per step" kind="number"/>
            <Field form name="limits.agent_seconds" label="Seconds for an agent" kind="number"/>
            <Field form name="limits.test_seconds" label="Seconds for the tests" kind="number"/>
            <Field form name="limits.patience_seconds" label="Seconds waiting for the provider" kind="number"/>
            <Field form name="limits.cpus_milli" label="Thousandths of a processor" kind="number"/>
            <Field form name="limits.memory_mb" label="Memory in MiB" kind="number"/>
            <Field form name="limits.pids" label="Processes" kind="number"/>
            <Field form name="limits.disk_mb" label="Disk in MiB" kind="number"/>
            <Field form name="limits.code_mb" label="Code in MiB" kind="number"/>
        </fieldset>
    }
}

/// Whether the provider may act for the agent.
#[component]
fn HostedToolsField(form: Form) -> impl IntoView {
    const NAME: &str = "allow_hosted_tools";
    let allowed = form.kept(NAME).is_some_and(|kept| !kept.is_empty());
    view! {
        <label class="box whole-row">
            <input type="checkbox" name=NAME value="on" checked=allowed/>
            "The provider may search the web and execute code for the agent; such a run is marked and not ranked"
        </label>
    }
}

#[component]
fn VisibilityFields(chosen: Option<String>) -> impl IntoView {
    let chosen = chosen.and_then(|name| Visibility::from_name(&name));
    let public = chosen.unwrap_or_default() == Visibility::Public;
    let choice = |visibility: Visibility, words: &'static str, checked: bool| {
        view! {
            <label class="box">
                <input type="radio" name="visibility" value=visibility.name() checked=checked/>
                {words}
            </label>
        }
    };
    view! {
        <div class="whole-row" role="radiogroup" aria-label="Visibility">
            {choice(Visibility::Private, "Visible to you and the administrators; it can be published later", !public)}
            {choice(Visibility::Public, "Visible to everybody from the start; it is ranked when it is done", public)}
        </div>
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
    let about = |text: String| format!("about {text}");
    let hours = |seconds: u64| about(format::roughly(seconds as f64));
    let [seconds, tokens, money] = [
        estimate.seconds.map(hours),
        estimate.tokens.map(|tokens| about(format::compact(tokens))),
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
        ("Estimated cost", money),
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
        <section class="note" role="status" aria-labelledby="preview" tabindex="-1" data-result="">
            <h2 id="preview">"Estimate"</h2>
            <dl class="facts">{facts.collect_any()}</dl>
            <p class="quiet">{rests_on}" Nothing is queued yet."</p>
        </section>
    }
}
