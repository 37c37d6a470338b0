//! The score of a sample, or the reason why there is none.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Serialize)]
pub struct Score {
    /// Numbers, and yes or no, by name.
    pub value: Map<String, Value>,
    pub explanation: String,
    pub metadata: Map<String, Value>,
}

/// Why a sample has no score.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    pub message: String,
    traceback: &'static str,
    traceback_ansi: &'static str,
}

impl Failure {
    pub fn new(message: String) -> Self {
        Self {
            message,
            traceback: "",
            traceback_ansi: "",
        }
    }
}
