//! A form that says what is wrong while somebody fills it in.

use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlFormElement};

use crate::{fetch, form_data};

/// The server's word on a field; `swe_ci_core::problems::BadConfig` there.
#[derive(Deserialize)]
struct BadField {
    field: String,
    problem: String,
}

#[derive(Deserialize)]
struct Checked {
    problems: Vec<BadField>,
    /// A part of the page for the element with `data-estimate`.
    estimate: String,
}

/// Checks a field of the form inside when somebody leaves it: the server, which
/// knows the rules, is asked with `deed=check`, and estimates the run as soon as it
/// can. Fields that nobody has visited are left alone, and what is secret stays here.
#[island]
pub fn CheckedForm(children: Children) -> impl IntoView {
    let asked = StoredValue::new(0_u32);
    let on_change = move |event: web_sys::Event| {
        asked.update_value(|asked| *asked += 1);
        let now = asked.get_value();
        let is_latest = move || asked.try_get_value() == Some(now);
        let field = event
            .target()
            .and_then(|field| field.dyn_into::<Element>().ok());
        if let Some(field) = field {
            leptos::task::spawn_local(async move { _ = check(&field, is_latest).await });
        }
    };
    view! { <div on:change=on_change>{children()}</div> }
}

async fn check(field: &Element, is_latest: impl Fn() -> bool) -> Option<()> {
    let (id, name) = (field.id(), field.get_attribute("name")?);
    let text = document().get_element_by_id(&format!("{id}-problem"))?;
    let form = field
        .closest("form")
        .ok()??
        .dyn_into::<HtmlFormElement>()
        .ok()?;
    let fields = form_data::parameters(&form)?;
    for secret in form_data::secrets(&form) {
        fields.delete(&secret);
    }
    fields.set("deed", "check");
    // Without an answer, the form says it when it is sent.
    let checked: Checked = fetch::post_for(&form.get_attribute("action")?, &fields)
        .await
        .ok()?;
    // An answer that a later one has overtaken is about other values.
    if let Some(place) = form.query_selector("[data-estimate]").ok()?
        && is_latest()
    {
        place.set_inner_html(&checked.estimate);
    }
    let problem = checked.problems.into_iter().find(|bad| bad.field == name);
    let _ = match problem {
        Some(bad) => {
            text.set_text_content(Some(&bad.problem));
            text.set_class_name("form-problem");
            field.set_attribute("aria-invalid", "true")
        }
        None => {
            text.set_text_content(None);
            text.set_class_name("visually-hidden");
            field.remove_attribute("aria-invalid")
        }
    };
    Some(())
}
