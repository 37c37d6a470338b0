//! A sample: one evolution.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::event::Event;
use super::message::Message;
use super::score::{Failure, Score};
use super::usage::Usages;

/// `samples/<id>_epoch_<epoch>.json`.
#[derive(Debug, Serialize)]
pub struct Sample<'a> {
    #[serde(flatten)]
    pub text: &'a SampleText,
    pub metadata: &'a Map<String, Value>,
    /// The main conversations of all steps.
    pub messages: Vec<&'a Message>,
    pub events: &'a [Event],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_data: Option<EventsData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a Failure>,
}

/// An element of `summaries.json`.
#[derive(Debug, Serialize)]
pub struct Summary {
    #[serde(flatten)]
    pub text: SampleText,
    pub metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub completed: bool,
    pub message_count: usize,
}

/// The fields that a sample and its summary share.
#[derive(Debug, Clone, Serialize)]
pub struct SampleText {
    pub id: String,
    pub epoch: u32,
    pub uuid: String,
    pub input: String,
    pub target: String,
    /// Empty when the evolution is not scored.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<&'static str, Score>,
    #[serde(flatten)]
    pub usages: Usages,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Seconds from its start to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_time: Option<f64>,
    /// Seconds of all its steps, without waiting for a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_time: Option<f64>,
}

/// The messages that events refer to.
#[derive(Debug, Serialize)]
pub struct EventsData<'a> {
    pub messages: &'a [Message],
    /// Raw requests: the recording has them.
    pub calls: [Value; 0],
}
