//! The SWE-CI web application: pages rendered on the server (`ssr`) and made
//! interactive in the browser (`hydrate`), and the plots both draw.
//!
//! A page is a folder: `view.rs` holds components that take plain data,
//! `data.rs` the server functions that fetch it, `mod.rs` joins the two.
//! Whatever can be computed without a browser lives in `swe-ci-core`.

// Views are deeply nested types.
#![recursion_limit = "256"]
#![allow(
    clippy::needless_pass_by_value,
    reason = "a component owns its props, also those it only reads"
)]

mod app;
mod error;

pub mod pages;

pub mod components;

pub mod plots;

mod fetched;
mod form_answer;
mod format;
mod glossary;
mod markup;
mod preview;
mod public_url;
mod query;
mod reader;
mod sign_in_providers;

pub use app::{App, shell};
pub use error::{AppError, ErrorKind};
pub use form_answer::{FieldProblem, FormAnswer};
pub use public_url::PublicUrl;
pub use query::encode;
pub use reader::Reader;
pub use sign_in_providers::{NotSignedIn, SignInProvider, SignInProviders};

/// Where the browser takes over the page the server rendered.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(async {
        // The code of the page comes on the way; what it needs it has fetched
        // before it takes over what the server sent.
        let taken_over = leptos::mount::hydrate_from_async(body(), App).await;
        taken_over.forget();
        // For whoever drives the page from outside: controls answer from here on.
        if let Some(root) = leptos::prelude::document().document_element() {
            let _ = root.set_attribute("data-hydrated", "");
        }
    });
}

#[cfg(feature = "hydrate")]
fn body() -> web_sys::HtmlElement {
    use wasm_bindgen::JsCast;
    let body = leptos::prelude::document().body();
    body.expect("a document has a body").unchecked_into()
}
