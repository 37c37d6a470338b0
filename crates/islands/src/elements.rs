//! Parts of the page.

use wasm_bindgen::JsCast;
use web_sys::Element;

/// The elements within another that match a selector, in the order of the page.
pub(crate) fn elements(within: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = within.query_selector_all(selector) else {
        return Vec::new();
    };
    let found = (0..found.length()).filter_map(|index| found.get(index));
    found.filter_map(|node| node.dyn_into().ok()).collect()
}
