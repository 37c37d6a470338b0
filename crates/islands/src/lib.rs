//! The program of the browser: the live places of pages, called *islands*.
//!
//! The server renders every page whole; without scripts it works by links and
//! forms. An island is rendered with its page and then made live in the browser.
//! It makes no pages of its own: when something else is to be shown, it asks the
//! server for the page and shows what differs ([`InPlace`], [`FollowRun`]). Only
//! what must follow a hand at once is computed in the browser: the marks of a
//! chart, and the scores while γ moves. A page without islands loads no program.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a component owns its props, also those it only reads"
)]
#![cfg_attr(
    feature = "ssr",
    allow(dead_code, reason = "what islands do, only browsers do")
)]

pub mod bar;
mod checked_form;
mod debounce;
mod elements;
mod fetch;
mod follow;
mod form_data;
mod gamma;
mod in_place;
mod morph;
mod picture;

pub use checked_form::CheckedForm;
pub use follow::{FollowRun, Poll};
pub use gamma::{LiveGamma, MovingRun, weight_words};
pub use in_place::InPlace;
pub use picture::{MarkPoint, Picture};

/// Runs once when the program has loaded, before any island becomes live.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
