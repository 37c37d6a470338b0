//! Requests to this site.

use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

const NO_ANSWER: &str = "The server did not answer. Check the connection and try again.";

/// The text of an answer, and the address it came from after redirects.
pub(crate) struct Answer {
    pub text: String,
    pub address: String,
}

impl Answer {
    /// Whether it came from the path of an address: it was led nowhere else.
    pub(crate) fn is_of(&self, address: &str) -> bool {
        path_of(&self.address) == path_of(address)
    }
}

fn path_of(address: &str) -> Option<String> {
    let base = leptos::prelude::window().location().href().ok()?;
    let url = web_sys::Url::new_with_base(address, &base).ok()?;
    Some(url.pathname())
}

/// # Errors
/// Why there is no answer, for the reader.
pub(crate) async fn get(address: &str) -> Result<Answer, String> {
    answer(leptos::prelude::window().fetch_with_str(address)).await
}

/// # Errors
/// As [`get`].
pub(crate) async fn post(address: &str, form: &web_sys::UrlSearchParams) -> Result<Answer, String> {
    let init = web_sys::RequestInit::new();
    init.set_method("POST");
    init.set_body(form);
    answer(leptos::prelude::window().fetch_with_str_and_init(address, &init)).await
}

async fn answer(request: js_sys::Promise) -> Result<Answer, String> {
    let response = JsFuture::from(request).await.map_err(no_answer)?;
    let response: web_sys::Response = response.dyn_into().map_err(no_answer)?;
    let text = JsFuture::from(response.text().map_err(no_answer)?);
    let text = text.await.map_err(no_answer)?;
    Ok(Answer {
        text: text.as_string().unwrap_or_default(),
        address: response.url(),
    })
}

/// # Errors
/// Why there is no such value, for the reader.
pub(crate) async fn post_for<T: DeserializeOwned>(
    address: &str,
    form: &web_sys::UrlSearchParams,
) -> Result<T, String> {
    read(&post(address, form).await?)
}

/// From bytes: reading numbers from text as well would double the code.
fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, String> {
    serde_json::from_slice(answer.text.as_bytes())
        .map_err(|_| "The server's answer cannot be read. Reload the page.".to_owned())
}

fn no_answer(_: JsValue) -> String {
    NO_ANSWER.to_owned()
}
