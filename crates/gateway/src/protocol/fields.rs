//! A JSON object whose fields can be replaced while the others keep their
//! text. The model sees the order of the keys in tool descriptions, and parsing
//! into a map would sort them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Field names with the raw JSON of their values.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, Box<str>)>);

impl Fields {
    pub fn put(&mut self, name: &str, value: &Value) {
        self.put_raw(name, value.to_string().into());
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    pub fn is_true(&self, name: &str) -> bool {
        let mut found = self.0.iter().filter(|(other, _)| other == name);
        found.any(|(_, value)| value.trim() == "true")
    }

    /// Removes all fields of this name and returns the last one's value.
    pub fn take(&mut self, name: &str) -> Option<Box<str>> {
        let last = self.0.iter().rposition(|(other, _)| other == name)?;
        let (_, value) = self.0.remove(last);
        self.0.retain(|(other, _)| other != name);
        Some(value)
    }

    /// Applies a JSON merge patch (RFC 7396): objects merge, `null` removes a
    /// field, and any other value replaces the old one.
    pub fn merge(&mut self, patch: &Map<String, Value>) {
        for (name, value) in patch {
            let old = self.take(name);
            match value {
                Value::Null => {}
                Value::Object(patch) => {
                    let mut nested: Self = old
                        .and_then(|old| serde_json::from_str(&old).ok())
                        .unwrap_or_default();
                    nested.merge(patch);
                    self.put_raw(name, nested.to_string().into());
                }
                value => self.put(name, value),
            }
        }
    }

    fn put_raw(&mut self, name: &str, value: Box<str>) {
        self.take(name);
        self.0.push((name.to_owned(), value));
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (name, value)) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}:{value}", Value::from(name.as_str()))?;
        }
        f.write_str("}")
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push((name, value.into()));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merging_a_patch_keeps_the_text_of_other_fields() {
        let check = |body: &str, patch: Value, expect: &str| {
            let mut fields: Fields = serde_json::from_str(body).unwrap();
            fields.merge(patch.as_object().unwrap());
            assert_eq!(fields.to_string(), expect);
        };
        let tool = r#"{"z":1.0,"tool":{"command":1e3, "a":[ ]}}"#;
        check(tool, json!({}), tool);
        check(r#"{"a":1,"b":2}"#, json!({"a": 0}), r#"{"b":2,"a":0}"#);
        check(
            r#"{"a":1,"b":2}"#,
            json!({"a": null, "c": null}),
            r#"{"b":2}"#,
        );
        check(
            r#"{"c":{"z":1,"y":2,"x":3}}"#,
            json!({"c": {"y": null, "x": [4], "w": {"v": null}}}),
            r#"{"c":{"z":1,"w":{},"x":[4]}}"#,
        );
        check(
            r#"{"a":"text"}"#,
            json!({"a": {"b": 1}}),
            r#"{"a":{"b":1}}"#,
        );
        // A field may occur several times, and with escapes in its name.
        check(
            r#"{"a":1,"\u0061":2,"b":"\"","a":3}"#,
            json!({"a": 4}),
            r#"{"b":"\"","a":4}"#,
        );
    }
}
