//! The experiments with each model, whose results sessions share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Why the provider cannot answer, if it cannot.
pub(super) type Verdict = Result<(), String>;

#[derive(Debug, Default)]
pub(super) struct Known {
    /// The latest probe: when it began, and its verdict.
    pub probe: tokio::sync::Mutex<Option<(Instant, Verdict)>>,
    /// Whether its streams hold tool calls. Some servers leave them in the text.
    pub streams_calls: OnceLock<bool>,
}

/// Address, full name of the key, and name of a model.
type Model = (String, Option<String>, String);

#[derive(Debug, Default)]
pub(super) struct Probes(Mutex<HashMap<Model, Arc<Known>>>);

impl Probes {
    pub fn of(&self, url: &str, key: Option<String>, model: &str) -> Arc<Known> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let model = (url.to_owned(), key, model.to_owned());
        all.entry(model).or_default().clone()
    }
}
