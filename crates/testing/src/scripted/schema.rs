//! The smallest value a JSON schema accepts, for arguments without a value in the
//! script and for side requests.

use serde_json::{Map, Value, json};

pub(super) fn smallest_value(schema: &Value) -> Value {
    let chosen = [&schema["const"], &schema["enum"][0]];
    if let Some(chosen) = chosen.into_iter().find(|value| !value.is_null()) {
        return chosen.clone();
    }
    let branches = [&schema["anyOf"][0], &schema["oneOf"][0]];
    if let Some(branch) = branches.into_iter().find(|value| value.is_object()) {
        return smallest_value(branch);
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str());
    // Google writes types in capitals.
    match kind.map(str::to_lowercase).as_deref() {
        Some("object") => required(schema).into(),
        Some("array") => json!([]),
        Some("string") => json!("none"),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        _ => Value::Null,
    }
}

fn required(schema: &Value) -> Map<String, Value> {
    let names = schema["required"].as_array().into_iter().flatten();
    names
        .filter_map(Value::as_str)
        .map(|name| (name.to_owned(), smallest_value(&schema["properties"][name])))
        .collect()
}
