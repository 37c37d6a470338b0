//! Makes a part of the page equal to what the server renders now, and touches
//! only what differs: focus, typed text, open details and scroll positions stay.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{
    Document, DomParser, Element, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, Node,
    SupportedType,
};

const ISLAND: &str = "LEPTOS-ISLAND";

#[wasm_bindgen]
extern "C" {
    /// Makes islands live that are not yet; the page's loader has it.
    #[wasm_bindgen(js_name = hydrateIslands)]
    fn hydrate_islands();
}

/// What becomes of the field that somebody may be writing in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FocusedField {
    /// It keeps its text: the new view follows from it, or has nothing to do
    /// with it.
    Stays,
    Follows,
}

/// Shows a document that the server rendered for this page or for another view
/// of it: its main part and its title.
pub(crate) fn show(html: &str, field: FocusedField) {
    let page = leptos::prelude::document();
    let Some(new) = parsed(html) else { return };
    let (Some(old_main), Some(new_main)) = (main_of(&page), main_of(&new)) else {
        return;
    };
    page.set_title(&new.title());
    let focused = page
        .active_element()
        .filter(|_| field == FocusedField::Stays);
    element(&old_main, &new_main, focused.as_ref());
    hydrate_islands();
}

fn parsed(html: &str) -> Option<Document> {
    let parser = DomParser::new().ok()?;
    parser.parse_from_string(html, SupportedType::TextHtml).ok()
}

fn main_of(document: &Document) -> Option<Element> {
    document.query_selector("main").ok()?
}

fn element(old: &Element, new: &Element, focused: Option<&Element>) {
    if old.is_equal_node(Some(new)) {
        return;
    }
    if old.tag_name() == ISLAND {
        let same = |name: &str| old.get_attribute(name) == new.get_attribute(name);
        if !same("data-component") || !same("data-props") {
            let _ = old.replace_with_with_node_1(new);
        } else if let (Some(old), Some(new)) = (children_of(old), children_of(new)) {
            // The same island with the same data has a life of its own, but what
            // the server put into it is the server's.
            children(&old, &new, focused);
        }
        return;
    }
    if focused != Some(old) {
        fields(old, new);
    }
    attributes(old, new);
    children(old, new, focused);
}

/// Where an island has what the server put into it.
fn children_of(island: &Element) -> Option<Element> {
    island.query_selector("leptos-children").ok()?
}

fn attributes(old: &Element, new: &Element) {
    // Whether details are open is the reader's choice.
    let is_kept = |name: &str| name == "open" && old.tag_name() == "DETAILS";
    for name in old
        .get_attribute_names()
        .iter()
        .filter_map(|name| name.as_string())
    {
        if !new.has_attribute(&name) && !is_kept(&name) {
            let _ = old.remove_attribute(&name);
        }
    }
    for name in new
        .get_attribute_names()
        .iter()
        .filter_map(|name| name.as_string())
    {
        let value = new.get_attribute(&name).unwrap_or_default();
        if !is_kept(&name) && old.get_attribute(&name).as_ref() != Some(&value) {
            let _ = old.set_attribute(&name, &value);
        }
    }
}

/// What was typed or ticked follows the server where it says something new. A
/// secret it never sends back.
fn fields(old: &Element, new: &Element) {
    if let Some(field) = old.dyn_ref::<HtmlInputElement>() {
        let is_new = |name: &str| old.get_attribute(name) != new.get_attribute(name);
        match field.type_().as_str() {
            "password" | "file" => {}
            "checkbox" | "radio" if is_new("checked") => {
                field.set_checked(new.has_attribute("checked"));
            }
            "checkbox" | "radio" => {}
            _ if is_new("value") => {
                field.set_value(&new.get_attribute("value").unwrap_or_default());
            }
            _ => {}
        }
    }
    if let (Some(old), Some(new)) = (
        old.dyn_ref::<HtmlTextAreaElement>(),
        new.dyn_ref::<HtmlTextAreaElement>(),
    ) && old.text_content() != new.text_content()
    {
        old.set_value(&new.text_content().unwrap_or_default());
    }
    if let (Some(old), Some(new)) = (
        old.dyn_ref::<HtmlSelectElement>(),
        new.dyn_ref::<HtmlSelectElement>(),
    ) {
        old.set_value(&new.value());
    }
}

fn children(old: &Element, new: &Element, focused: Option<&Element>) {
    let mut at = old.first_child();
    let mut next = new.first_child();
    while let Some(wanted) = next {
        next = wanted.next_sibling();
        match counterpart(at.as_ref(), &wanted) {
            Some(found) => {
                while let Some(gone) = at.filter(|at| *at != found) {
                    at = gone.next_sibling();
                    let _ = old.remove_child(&gone);
                }
                at = found.next_sibling();
                node(&found, &wanted, focused);
            }
            None => {
                let _ = old.insert_before(&wanted, at.as_ref());
            }
        }
    }
    while let Some(gone) = at {
        at = gone.next_sibling();
        let _ = old.remove_child(&gone);
    }
}

fn node(old: &Node, new: &Node, focused: Option<&Element>) {
    match (old.dyn_ref::<Element>(), new.dyn_ref::<Element>()) {
        (Some(old), Some(new)) => element(old, new, focused),
        _ if old.node_value() != new.node_value() => {
            old.set_node_value(new.node_value().as_deref());
        }
        _ => {}
    }
}

/// The present node for a new one: that of its id, wherever among the next
/// siblings it is; without an id the next, if it is of the same kind.
fn counterpart(at: Option<&Node>, wanted: &Node) -> Option<Node> {
    let id = id_of(wanted);
    let mut candidate = at.cloned();
    while let Some(node) = candidate {
        let same = node.node_name() == wanted.node_name() && id_of(&node) == id;
        if same || id.is_none() {
            return same.then_some(node);
        }
        candidate = node.next_sibling();
    }
    None
}

fn id_of(node: &Node) -> Option<String> {
    let id = node.dyn_ref::<Element>()?.id();
    (!id.is_empty()).then_some(id)
}
