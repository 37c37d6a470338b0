//! The SWE-CI web application: pages rendered on the server (`ssr`) and made
//! interactive in the browser (`hydrate`).
//!
//! A page is a file: the server functions that fetch its data, the page, and the
//! components that take plain data. A larger page is a folder. Computations
//! that need no browser live in `swe-ci-core` and `swe-ci-views`, figures in
//! `swe-ci-plots`.

// Views are deeply nested types.
#![recursion_limit = "256"]
#![allow(
    clippy::needless_pass_by_value,
    reason = "a component owns its props, also those it only reads"
)]

mod app;
pub mod components;
mod context;
mod debounce;
mod error;
mod format;
mod glossary;
mod labels;
pub mod pages;
mod preview;
mod query;

pub use app::{App, shell};
pub use components::FormAnswer;
pub use context::{NotSignedIn, PublicUrl, Reader, SignInProvider, SignInProviders};
pub use error::{AppError, ErrorKind};
pub use query::encode;

/// The entry point in the browser: takes over the page the server rendered.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(async {
        // Loads the page's code and data first.
        let taken_over = leptos::mount::hydrate_from_async(body(), App).await;
        taken_over.forget();
        // Tells scripts from outside that controls work now.
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
