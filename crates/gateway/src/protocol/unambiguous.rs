//! JSON without repeated fields.
//!
//! Of two fields with one name, one parser takes the first and another the last.
//! The gateway judges a request and passes its text on, so both must read the
//! same.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value in which no object has a field twice; anything else fails to parse.
pub struct Unambiguous(pub Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(Self)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unambiguous(value))) = fields.next_entry::<String, _>()? {
            if object.contains_key(&name) {
                let name: String = name.chars().take(60).collect();
                return Err(A::Error::custom(format!("the field `{name}` occurs twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_fields_are_refused_at_any_depth() {
        let parse = |text: &str| serde_json::from_str::<Unambiguous>(text).map(|json| json.0);
        for text in [
            "null",
            r#"{"a":[1,-2,0.5,true,null,"x",{"b":{"a":{}}}],"b":{"a":1}}"#,
            r#"[{"a":1},{"a":2}]"#,
            "18446744073709551615",
        ] {
            let expect: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text).unwrap(), expect);
        }
        for text in [
            r#"{"tools":[],"tools":[{"type":"web_search"}]}"#,
            r#"{"tools":[],"\u0074ools":[]}"#,
            r#"{"tools":[{"type":"web_search","type":"function"}]}"#,
        ] {
            let why = parse(text).unwrap_err().to_string();
            assert!(why.contains("occurs twice"), "{why}");
        }
    }
}
