//! The fields that a form would send.

use wasm_bindgen::JsCast;
use web_sys::{Element, FormData, HtmlFormElement, UrlSearchParams};

/// The fields of a form, encoded as in an address; none for what is not a form.
pub(crate) fn parameters(form: &HtmlFormElement) -> Option<UrlSearchParams> {
    let data = FormData::new_with_form(form).ok()?;
    UrlSearchParams::new_with_str_sequence_sequence(&data).ok()
}

pub(crate) fn pairs(parameters: &UrlSearchParams) -> Vec<(String, String)> {
    let pairs = js_sys::Array::from(parameters);
    let pairs = pairs.iter().map(|pair| js_sys::Array::from(&pair));
    pairs
        .filter_map(|pair| Some((pair.get(0).as_string()?, pair.get(1).as_string()?)))
        .collect()
}

/// The names of the fields whose content is not shown.
pub(crate) fn secrets(form: &HtmlFormElement) -> Vec<String> {
    let Ok(fields) = form.query_selector_all("input[type=password]") else {
        return Vec::new();
    };
    let fields = (0..fields.length()).filter_map(|index| fields.get(index));
    let fields = fields.filter_map(|field| field.dyn_into::<Element>().ok());
    fields
        .filter_map(|field| field.get_attribute("name"))
        .collect()
}
