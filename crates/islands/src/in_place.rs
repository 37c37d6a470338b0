//! Shows another view of the same page without loading it anew: only what differs
//! changes.

use leptos::ev::{Event, MouseEvent, SubmitEvent};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, HtmlFormElement};

use crate::debounce::Rest;
use crate::morph::FocusedField;
use crate::{fetch, form_data, morph};

/// How a new view appears in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    New,
    Same,
}

/// The state of the page's views.
#[derive(Clone, Copy)]
struct Views {
    /// Counts the requests, because only the last one's answer is shown.
    asked: StoredValue<u64>,
    /// The query of the shown view.
    shown: StoredValue<String>,
    /// Whether the view of a link or of a sent form is under way.
    coming: StoredValue<bool>,
    /// Whether the shown view comes from typing.
    typed: StoredValue<bool>,
    /// How often a field of a search has changed.
    inputs: StoredValue<u64>,
    rest: Rest,
}

/// Once on a page with views. It draws nothing.
///
/// - A click on a link to the same path shows the view at its address, unless the
///   link has `data-whole-page`.
/// - `<form data-in-place>` shows its answer; a form of a search does so while
///   somebody types in it, or chooses.
/// - A view's address is that of the link or form, or the shorter one that the
///   page names with `data-address`.
/// - A password field keeps its text; the first field to correct, or else the
///   element with `data-result` in a new view, such as a preview, gets the focus.
#[island]
pub fn InPlace() -> impl IntoView {
    Effect::new(move || {
        let views = Views {
            asked: StoredValue::new(0),
            shown: StoredValue::new(query()),
            coming: StoredValue::new(false),
            typed: StoredValue::new(false),
            inputs: StoredValue::new(0),
            rest: Rest::new(),
        };
        let listeners = [
            window_event_listener(leptos::ev::click, move |event| views.clicked(&event)),
            window_event_listener(leptos::ev::submit, move |event| views.submitted(&event)),
            window_event_listener(leptos::ev::input, move |event| views.typed(&event)),
            window_event_listener(leptos::ev::change, move |event| views.typed(&event)),
            window_event_listener(leptos::ev::popstate, move |_| views.gone_back()),
        ];
        on_cleanup(move || listeners.into_iter().for_each(WindowListenerHandle::remove));
    });
}

impl Views {
    fn clicked(self, event: &MouseEvent) {
        let elsewhere =
            event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
        if event.button() != 0 || elsewhere {
            return;
        }
        if let Some(href) = closest(event, "main a[href]").and_then(|link| other_view(&link)) {
            event.prevent_default();
            self.show(href, Step::New);
        }
    }

    fn submitted(self, event: &SubmitEvent) {
        let Some(form) = closest(event, "form[data-in-place]") else {
            return;
        };
        let Ok(form) = form.dyn_into::<HtmlFormElement>() else {
            return;
        };
        let Some(fields) = form_data::parameters(&form) else {
            return;
        };
        // The pressed button counts as a field, and may be for a whole new page.
        if let Some(button) = event.submitter() {
            if button.has_attribute("data-whole-page") {
                return;
            }
            if let (Some(name), Some(value)) =
                (button.get_attribute("name"), button.get_attribute("value"))
            {
                fields.append(&name, &value);
            }
        }
        event.prevent_default();
        let action = form.get_attribute("action").unwrap_or_default();
        match form.method().as_str() {
            "post" => self.post(action, fields),
            _ => self.show(with_query(&action, &fields), Step::New),
        }
    }

    /// A form of a search follows its fields. Starting to type adds to the history;
    /// further typing, and turning a number, does not.
    fn typed(self, event: &Event) {
        let Some(form) = closest(event, "form[data-in-place][method=get]") else {
            return;
        };
        let Ok(form) = form.dyn_into::<HtmlFormElement>() else {
            return;
        };
        self.inputs.update_value(|inputs| *inputs += 1);
        let turns = closest(event, "input[type=range], input[type=number]").is_some();
        self.follow(form, turns);
    }

    /// Shows the view of a search when its fields rest.
    fn follow(self, form: HtmlFormElement, turns: bool) {
        self.rest.then(move || {
            // Until the view of a link is here, the form is that of the view before
            // it, and would undo the reader's choice.
            if self.coming.get_value() {
                self.follow(form, turns);
            } else if let Some(fields) = form_data::parameters(&form) {
                let action = form.get_attribute("action").unwrap_or_default();
                let step = match turns || self.typed.get_value() {
                    true => Step::Same,
                    false => Step::New,
                };
                self.show_keeping(with_query(&action, &fields), step, FocusedField::Stays);
                self.typed.set_value(true);
            }
        });
    }

    /// An earlier view: the address has changed already. A jump within the page
    /// is the browser's.
    fn gone_back(self) {
        let jump = self.shown.with_value(|shown| *shown == query());
        if let Ok(href) = window().location().href()
            && !jump
        {
            self.show(href, Step::Same);
        }
    }

    fn show(self, href: String, step: Step) {
        self.show_keeping(href, step, FocusedField::Follows);
    }

    fn show_keeping(self, href: String, step: Step, field: FocusedField) {
        let (turn, inputs) = (self.turn(), self.inputs.get_value());
        self.coming.set_value(field == FocusedField::Follows);
        let is_typing = move || self.inputs.get_value() != inputs;
        // An answer about fields that have changed since would undo that.
        let is_outdated = move || field == FocusedField::Stays && is_typing();
        leptos::task::spawn_local(async move {
            let answer = fetch::get(&href).await;
            if self.is_last(turn) {
                self.coming.set_value(false);
            }
            match answer {
                // Led elsewhere, such as to the sign-in.
                Ok(answer) if !answer.is_of(&href) => {
                    let _ = window().location().set_href(&answer.address);
                }
                Ok(answer) if self.is_last(turn) && !is_outdated() => {
                    let field = if is_typing() {
                        FocusedField::Stays
                    } else {
                        field
                    };
                    morph::show(&answer.text, field);
                    remember(&shortest().unwrap_or_else(|| href.clone()), step);
                    self.shown.set_value(query());
                    go_to_fragment(&href);
                }
                Ok(_) => {}
                // The browser's own page says why.
                Err(_) => drop(window().location().set_href(&href)),
            }
        });
    }

    /// Shows the answer to a form, or goes where it leads.
    fn post(self, action: String, fields: web_sys::UrlSearchParams) {
        let turn = self.turn();
        leptos::task::spawn_local(async move {
            let Ok(answer) = fetch::post(&action, &fields).await else {
                show_problem();
                return;
            };
            if !self.is_last(turn) {
                return;
            }
            if answer.is_of(&action) {
                morph::show(&answer.text, FocusedField::Stays);
                focus_result();
            } else {
                let _ = window().location().set_href(&answer.address);
            }
        });
    }

    fn turn(self) -> u64 {
        self.rest.stop();
        self.typed.set_value(false);
        self.coming.set_value(false);
        self.asked.update_value(|asked| *asked += 1);
        self.asked.get_value()
    }

    fn is_last(self, turn: u64) -> bool {
        self.asked.get_value() == turn
    }
}

/// The address of a link if it leads to another view of this page. A jump within
/// the view is the browser's.
fn other_view(link: &Element) -> Option<String> {
    let href = link.get_attribute("href")?;
    let leaves = ["download", "target", "data-whole-page"];
    if leaves.iter().any(|name| link.has_attribute(name)) {
        return None;
    }
    let here = web_sys::Url::new(&window().location().href().ok()?).ok()?;
    let there = web_sys::Url::new_with_base(&href, &here.href()).ok()?;
    let same_page = there.origin() == here.origin() && there.pathname() == here.pathname();
    let jump = there.search() == here.search() && !there.hash().is_empty();
    (same_page && !jump).then_some(href)
}

fn closest(event: &Event, selector: &str) -> Option<Element> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest(selector).ok()?
}

/// Empty fields say nothing.
fn with_query(action: &str, fields: &web_sys::UrlSearchParams) -> String {
    let empty = form_data::pairs(fields)
        .into_iter()
        .filter(|(_, value)| value.is_empty());
    for (name, _) in empty {
        fields.delete(&name);
    }
    let query = String::from(fields.to_string());
    match query.is_empty() {
        true => action.to_owned(),
        false => format!("{action}?{query}"),
    }
}

/// That of the address.
fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// The address of a view without defaults, if the page says it.
fn shortest() -> Option<String> {
    let view = document().query_selector("main [data-address]").ok()??;
    view.get_attribute("data-address")
}

fn remember(href: &str, step: Step) {
    if let Ok(history) = window().history() {
        // An address that is not shown changes nothing else.
        let _ = match step {
            Step::New => history.push_state_with_url(&JsValue::NULL, "", Some(href)),
            Step::Same => history.replace_state_with_url(&JsValue::NULL, "", Some(href)),
        };
    }
}

/// Scrolls to the place that an address names.
fn go_to_fragment(href: &str) {
    let place = href.split_once('#').map(|(_, id)| id);
    let place = place.and_then(|id| document().get_element_by_id(id));
    if let Some(place) = place {
        place.scroll_into_view();
    }
}

fn focus_result() {
    let found = |selector: &str| document().query_selector(selector).ok().flatten();
    let wrong = found("main form[data-in-place] [aria-invalid]");
    let result = wrong.or_else(|| found("main [data-result]"));
    if let Some(result) = result.and_then(|result| result.dyn_into::<HtmlElement>().ok()) {
        result.scroll_into_view();
        let _ = result.focus();
    }
}

fn show_problem() {
    let _ = window()
        .alert_with_message("The server did not answer. Your entries are still here: try again.");
}
