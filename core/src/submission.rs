//! Runs as they are handed in: a configuration, and who may see what comes of
//! it.

mod estimate;
mod form;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::account::Visibility;
use crate::run::RunConfig;

pub use estimate::{Estimate, Precedent};
pub use form::{OWN_PROGRAMMER, RunForm};

/// A run to be queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Submission {
    pub config: RunConfig,
    /// `private` or `public`; nobody but its owner sees a private one.
    #[serde(default = "private")]
    pub visibility: Visibility,
    /// Whether nothing of it is begun before its agents were tried on a tiny
    /// task, and one of its tasks at both ends.
    #[serde(default = "yes")]
    pub preflight: bool,
    /// Whether the keys it names are removed when it is over, for keys that
    /// are meant for it alone. One that another run still needs stays.
    #[serde(default)]
    pub forget_keys: bool,
}

fn yes() -> bool {
    true
}

fn private() -> Visibility {
    Visibility::Private
}

/// The first field that was given and not understood, as a path with dots: a
/// typing error must not quietly leave a default in place. What is empty says
/// nothing, and is left out again when it is written.
#[must_use]
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
    fn what_is_not_understood_is_named() {
        let check = |more: Value, expect: Option<&str>| {
            let mut given = json!({"config": RunConfig::human("demo")});
            let Value::Object(more) = more else { return };
            given["config"].as_object_mut().unwrap().extend(more);
            let read: Submission = serde_json::from_value(given.clone()).unwrap();
            let understood = serde_json::to_value(&read).unwrap();
            let found = unknown_field(&given, &understood);
            assert_eq!(found.as_deref(), expect, "{given}");
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
    fn a_run_is_private_unless_it_is_said() {
        let given = json!({"config": RunConfig::human("demo")});
        let read: Submission = serde_json::from_value(given).unwrap();
        assert_eq!(read.visibility, Visibility::Private);
    }
}
