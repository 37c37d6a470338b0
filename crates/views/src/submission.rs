//! The submission of a run: its configuration, visibility and preflight.

mod estimate;
mod form;
mod presets;
mod settings;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use swe_ci_core::run::RunConfig;

use crate::account::Visibility;

pub use estimate::{Estimate, EvolutionCost, ExperimentEstimate, PlannedRun, Range};
pub use form::{ADD_KEY, NEW_KEY, NEW_KEY_NAME, OWN_PROGRAMMER, RunForm};
pub use presets::{PRESETS, Preset};
pub use settings::{Only, SETTINGS, Section, Setting, SettingKind};

/// A run to be queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Submission {
    pub config: RunConfig,
    /// `public` or `private`; only its owner sees a private one.
    #[serde(default)]
    pub visibility: Visibility,
    /// Whether it starts only after a preflight: its agents work on a tiny
    /// task, and one of its tasks runs its tests on base and target.
    #[serde(default = "yes")]
    pub preflight: bool,
    /// Whether the server deletes its keys when it is over, for keys that serve
    /// this run only. A key that another run still needs stays.
    #[serde(default)]
    pub forget_keys: bool,
}

fn yes() -> bool {
    true
}

/// What is wrong with a field that only the input has.
const NO_SUCH_FIELD: &str = "there is no such field";

/// The fields of the input that the parsed form lacks, as paths with dots: a typing error must not silently leave a default in place.
/// Empty fields do not count, because serialisation omits them.
fn unknown_fields(given: &Value, understood: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    add_unknown("", given, understood, &mut unknown);
    unknown
}

fn add_unknown(place: &str, given: &Value, understood: &Value, unknown: &mut Vec<String>) {
    let (Value::Object(given), Value::Object(understood)) = (given, understood) else {
        return;
    };
    for (name, value) in given {
        match understood.get(name) {
            None if is_empty(value) => {}
            None => unknown.push(format!("{place}{name}")),
            Some(known) => add_unknown(&format!("{place}{name}."), value, known, unknown),
        }
    }
}

/// The same, each with what is wrong with it.
pub fn unknown_in_words(given: &Value, understood: &Value) -> Vec<String> {
    let fields = unknown_fields(given, understood).into_iter();
    fields
        .map(|field| format!("{field}: {NO_SUCH_FIELD}"))
        .collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_are_named() {
        let check = |more: Value, expect: &[&str]| {
            let mut given = json!({"config": RunConfig::human("demo")});
            let Value::Object(more) = more else { return };
            given["config"].as_object_mut().unwrap().extend(more);
            let parsed: Submission = serde_json::from_value(given.clone()).unwrap();
            let understood = serde_json::to_value(&parsed).unwrap();
            let fields = unknown_fields(&given, &understood);
            assert_eq!(fields, expect, "{given}");
        };
        check(json!({}), &[]);
        check(json!({"tasks": [], "budget": {}, "endpoint": null}), &[]);
        check(
            json!({"sample": 3, "limits": {"memory": 3}}),
            &["config.limits.memory", "config.sample"],
        );
    }

    #[test]
    fn runs_are_public_by_default() {
        let given = json!({"config": RunConfig::human("demo")});
        let parsed: Submission = serde_json::from_value(given).unwrap();
        assert_eq!(parsed.visibility, Visibility::Public);
    }
}
