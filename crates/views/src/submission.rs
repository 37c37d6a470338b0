//! The submission of a run: its configuration, visibility and preflight.

mod estimate;
mod form;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use swe_ci_core::run::RunConfig;

use crate::account::Visibility;

pub use estimate::{Estimate, IterationCost};
pub use form::{OWN_PROGRAMMER, RunForm};

/// A run to be queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Submission {
    pub config: RunConfig,
    /// `private` or `public`; only its owner sees a private one.
    #[serde(default = "private")]
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

fn private() -> Visibility {
    Visibility::Private
}

/// The first field of the input that the parsed form lacks, as a path with
/// dots: a typing error must not silently leave a default in place. Empty
/// fields do not count, because serialisation omits them.
pub fn unknown_field(given: &Value, understood: &Value) -> Option<String> {
    let (Value::Object(given), Value::Object(understood)) = (given, understood) else {
        return None;
    };
    given
        .iter()
        .find_map(|(name, value)| match understood.get(name) {
            None if is_empty(value) => None,
            None => Some(name.clone()),
            Some(known) => unknown_field(value, known).map(|inner| format!("{name}.{inner}")),
        })
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
        let check = |more: Value, expect: Option<&str>| {
            let mut given = json!({"config": RunConfig::human("demo")});
            let Value::Object(more) = more else { return };
            given["config"].as_object_mut().unwrap().extend(more);
            let parsed: Submission = serde_json::from_value(given.clone()).unwrap();
            let understood = serde_json::to_value(&parsed).unwrap();
            let field = unknown_field(&given, &understood);
            assert_eq!(field.as_deref(), expect, "{given}");
        };
        check(json!({}), None);
        check(json!({"tasks": [], "budget": {}, "endpoint": null}), None);
        check(json!({"sample": 3}), Some("config.sample"));
        check(
            json!({"limits": {"memory": 3}}),
            Some("config.limits.memory"),
        );
    }

    #[test]
    fn runs_are_private_by_default() {
        let given = json!({"config": RunConfig::human("demo")});
        let parsed: Submission = serde_json::from_value(given).unwrap();
        assert_eq!(parsed.visibility, Visibility::Private);
    }
}
