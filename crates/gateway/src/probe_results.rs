//! The latest probe of each model, which sessions share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Why the provider cannot answer, if it cannot.
pub(super) type Verdict = Result<(), String>;

/// The latest probe of a model: when it began, and its verdict.
pub(super) type Latest = Arc<tokio::sync::Mutex<Option<(Instant, Verdict)>>>;

/// Address, full name of the key, and name of a model.
type Model = (String, Option<String>, String);

#[derive(Debug, Default)]
pub(super) struct Probes(Mutex<HashMap<Model, Latest>>);

impl Probes {
    pub fn of(&self, url: &str, key: Option<String>, model: &str) -> Latest {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let model = (url.to_owned(), key, model.to_owned());
        all.entry(model).or_default().clone()
    }
}
