//! The fields of the form, from the table of settings, and its errors.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::submission::{
    NEW_KEY, NEW_KEY_NAME, OWN_PROGRAMMER, Only, SETTINGS, Section, Setting, SettingKind,
};

use super::desk::Choices;
use crate::components::CollectAny;
use crate::components::{Field, Form, LongText, OneOf, field_id};

pub(super) const VISIBILITY: &str = "visibility";
const NEW_KEY_LABEL: &str = "New key";
const NEW_KEY_NAME_LABEL: &str = "Name of the new key";

/// The settings of a part of the form.
pub(super) fn fields(form: Form, section: Section, choices: StoredValue<Choices>) -> Vec<AnyView> {
    let settings = SETTINGS.iter().filter(|setting| setting.section == section);
    settings
        .map(|setting| field(form, setting, choices))
        .collect_any()
}

fn field(form: Form, setting: &'static Setting, choices: StoredValue<Choices>) -> AnyView {
    let (name, label) = (setting.name, setting.label);
    let hint = choices.with_value(|choices| choices.hint(setting));
    let kind = match setting.kind {
        SettingKind::Url => "url",
        SettingKind::Number => "number",
        _ => "text",
    };
    let field = match setting.kind {
        SettingKind::Flag => view! { <Ticked form name=name label=label/> }.into_any(),
        SettingKind::Choice => {
            let chosen = form.kept(name).unwrap_or_default();
            let options = choices.with_value(|choices| choices.of(name, &chosen));
            let new_key = (name == "endpoint.key").then(|| view! { <NewKey form/> });
            view! { <OneOf form name=name label=label options hint/> {new_key} }.into_any()
        }
        SettingKind::Json(_) | SettingKind::Tasks | SettingKind::Files => view! {
            <div class="whole-row">
                <LongText form name=name label=label rows=1 hint/>
            </div>
        }
        .into_any(),
        _ if name == "endpoint.model" => view! { <ModelField form label=label hint/> }.into_any(),
        _ => view! { <Field form name=name label=label kind hint/> }.into_any(),
    };
    let class = match setting.only {
        Only::Always | Only::Handover => return field,
        Only::Replay => "only-replay",
        Only::Models => "only-models",
        Only::Programs => "only-programs",
        Only::OwnProgrammer => "only-own-programmer",
    };
    view! { <div class=class>{field}</div> }.into_any()
}

/// The id of the model, with those that the provider lists.
#[component]
fn ModelField(form: Form, label: &'static str, hint: String) -> impl IntoView {
    let fetch = "/runs/new#field-endpoint.model";
    view! {
        <div class="run-form-model">
            <Field form name="endpoint.model" label=label hint list="models"/>
            <button class="link-button" type="submit" name="deed" value="models" formaction=fetch>
                "List the provider’s models"
            </button>
        </div>
    }
}

/// A key that is stored with the run.
#[component]
fn NewKey(form: Form) -> impl IntoView {
    let hint = "It is stored encrypted with the run, and never shown again.";
    view! {
        <div class="only-new-key">
            <Field form name=NEW_KEY_NAME label=NEW_KEY_NAME_LABEL hint="To choose it for the next run."/>
            <Field form name=NEW_KEY label=NEW_KEY_LABEL kind="password" autocomplete="new-password" hint/>
        </div>
    }
}

#[component]
fn Ticked(form: Form, name: &'static str, label: &'static str) -> impl IntoView {
    let is_ticked = form.kept(name).is_some_and(|kept| !kept.is_empty());
    view! {
        <label class="box whole-row">
            <input id=field_id(name) type="checkbox" name=name value="on" checked=is_ticked/>
            {label}
        </label>
    }
}

/// All validation errors, each with a link to its field.
#[component]
pub(super) fn Summary(form: Form) -> impl IntoView {
    let problems = form.problems();
    let item = |bad: swe_ci_core::run::BadConfig| {
        let label = match label_of(&bad.field) {
            Some(label) => {
                let href = format!("#{}", field_id(&bad.field));
                Either::Left(view! { <a href=href>{label}</a> })
            }
            None => Either::Right(bad.field),
        };
        view! { <li>{label}": "{bad.problem}</li> }
    };
    (!problems.is_empty()).then(|| {
        view! {
            <div class="note" data-tone="bad" role="alert" tabindex="-1" data-result="">
                <p>"Fix these fields to start the run:"</p>
                <ul>{problems.into_iter().map(item).collect_any()}</ul>
            </div>
        }
    })
}

/// None for what is no field of the form.
fn label_of(field: &str) -> Option<&'static str> {
    match field {
        NEW_KEY => Some(NEW_KEY_LABEL),
        NEW_KEY_NAME => Some(NEW_KEY_NAME_LABEL),
        VISIBILITY => Some("Who sees it"),
        field => Some(Setting::of_field(field)?.label),
    }
}

/// Whether a field of these parts of the form has to be corrected.
fn is_wrong(form: Form, within: impl Fn(Section) -> bool) -> bool {
    let problems = form.problems().into_iter();
    let mut settings = problems.filter_map(|bad| Setting::of_field(&bad.field));
    settings.any(|setting| within(setting.section))
}

/// The code of another run to go on with.
#[component]
pub(super) fn Continued(form: Form, choices: StoredValue<Choices>) -> impl IntoView {
    let is_filled = form.kept("handover.run").is_some_and(|run| !run.is_empty());
    let open = is_filled || is_wrong(form, |section| section == Section::Handover);
    view! {
        <details class="run-form-more only-models" open=open>
            <summary>"Continue the code of another run"</summary>
            <fieldset>
                <legend>"Another run"</legend>
                {fields(form, Section::Handover, choices)}
            </fieldset>
        </details>
    }
}

/// The settings that most runs leave alone. They are open when one of them has to
/// be corrected.
#[component]
pub(super) fn Advanced(form: Form, choices: StoredValue<Choices>) -> impl IntoView {
    let own = form
        .kept(OWN_PROGRAMMER)
        .is_some_and(|kept| !kept.is_empty());
    let wrong = is_wrong(form, |section| {
        !matches!(section, Section::Start | Section::Handover)
    });
    let part = |legend: &'static str, section: Section, first: Option<AnyView>| {
        view! {
            <fieldset>
                <legend>{legend}</legend>
                {first}
                {fields(form, section, choices)}
            </fieldset>
        }
    };
    let own_programmer = view! {
        <Ticked form name=OWN_PROGRAMMER label="Uses another harness or model than the architect"/>
    };
    let before = view! {
        <Ticked form name="skip-preflight" label="Skip the preflight. It tries the agents on a tiny task, and the quickest task at both ends; if it fails, the run waits for your decision"/>
        <Ticked form name="forget-keys" label="Remove the keys that this run names when it is over"/>
    };
    view! {
        <details class="run-form-more" open=own || wrong>
            <summary>"Two roles, samples, limits, prompts, headers, prices, workers …"</summary>
            {part("Model", Section::Model, None)}
            {part("Work", Section::Work, Some(before.into_any()))}
            {part("Budget", Section::Budget, None)}
            {part("Requests", Section::Requests, None)}
            {part("Programmer", Section::Programmer, Some(own_programmer.into_any()))}
            {part("Limits of a step", Section::Step, None)}
            {part("Workers", Section::Workers, None)}
        </details>
    }
}
