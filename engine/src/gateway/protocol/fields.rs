//! A JSON object whose fields can be exchanged while the rest stays as it was
//! written: in tool descriptions the order of the keys is part of what a model
//! is told, and parsing into a map would sort it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Names with what is written behind them.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, Box<str>)>);

impl Fields {
    pub fn put(&mut self, name: &str, value: &Value) {
        self.put_written(name, value.to_string().into());
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    /// Takes a field out; of several with the same name the last one counts,
    /// and none of them stays.
    pub fn take(&mut self, name: &str) -> Option<Box<str>> {
        let last = self.0.iter().rposition(|(other, _)| other == name)?;
        let (_, value) = self.0.remove(last);
        self.0.retain(|(other, _)| other != name);
        Some(value)
    }

    /// Lays a JSON merge patch (RFC 7396) over the fields: objects are merged,
    /// `null` takes a field out, and anything else replaces what was there.
    pub fn lay_over(&mut self, patch: &Map<String, Value>) {
        for (name, value) in patch {
            let old = self.take(name);
            match value {
                Value::Null => {}
                Value::Object(patch) => {
                    let mut below: Self = old
                        .and_then(|old| serde_json::from_str(&old).ok())
                        .unwrap_or_default();
                    below.lay_over(patch);
                    self.put_written(name, below.to_string().into());
                }
                value => self.put(name, value),
            }
        }
    }

    fn put_written(&mut self, name: &str, value: Box<str>) {
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
        struct Reading;

        impl<'de> Visitor<'de> for Reading {
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

        deserializer.deserialize_map(Reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_is_laid_over_and_the_rest_stays_as_written() {
        let check = |body: &str, patch: Value, expect: &str| {
            let mut fields: Fields = serde_json::from_str(body).unwrap();
            fields.lay_over(patch.as_object().unwrap());
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
        // However often and in whatever spelling a field is there.
        check(
            r#"{"a":1,"\u0061":2,"b":"\"","a":3}"#,
            json!({"a": 4}),
            r#"{"b":"\"","a":4}"#,
        );
    }
}
