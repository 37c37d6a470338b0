//! Messages of JSON-RPC 2.0, one a line, as the protocol uses them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Codes of errors that agents look at.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const RESOURCE_NOT_FOUND: i64 = -32002;
const AUTH_REQUIRED: i64 = -32000;

/// A message of the agent.
#[derive(Debug, PartialEq)]
pub enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        result: Result<Value, RpcError>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    /// Often has the true cause.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

#[derive(Deserialize)]
struct Raw {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<RpcError>,
}

impl Message {
    /// The message in a line; `None` if it is something else, such as a note
    /// that a program prints where messages belong.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let raw: Raw = serde_json::from_slice(line).ok()?;
        match (raw.method, raw.id) {
            (Some(method), Some(id)) => Some(Self::Request {
                id,
                method,
                params: raw.params,
            }),
            (Some(method), None) => Some(Self::Notification {
                method,
                params: raw.params,
            }),
            (None, Some(id)) => Some(Self::Response {
                id,
                result: raw.error.map_or(Ok(raw.result), Err),
            }),
            (None, None) => None,
        }
    }
}

pub fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

pub fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

pub fn response(id: &Value, result: Result<Value, RpcError>) -> String {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
    }
}

impl RpcError {
    fn new(code: i64, message: String) -> Self {
        Self {
            code,
            message,
            data: Value::Null,
        }
    }

    pub fn no_method(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("this client has no {method}"))
    }

    pub fn bad_params(problem: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, problem.into())
    }

    pub fn failed(problem: impl Into<String>) -> Self {
        Self::new(INTERNAL, problem.into())
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(
            RESOURCE_NOT_FOUND,
            format!("Resource not found: {what} does not exist"),
        )
    }

    pub fn wants_authentication(&self) -> bool {
        self.code == AUTH_REQUIRED
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)?;
        match &self.data {
            Value::Null => Ok(()),
            data => write!(
                f,
                ": {}",
                data.to_string().chars().take(500).collect::<String>()
            ),
        }
    }
}

/// The parameters of a request, as what they have to be.
pub fn params<T: for<'a> Deserialize<'a>>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|error| RpcError::bad_params(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let check = |line: &str, expect: Option<Message>| {
            assert_eq!(Message::parse(line.as_bytes()), expect, "{line}");
        };
        check("Loading …", None);
        check("[1]", None);
        check("{}", None);
        check(r#"{"method":1}"#, None);
        check(
            r#"{"id":"a","method":"m","params":[1]}"#,
            Some(Message::Request {
                id: json!("a"),
                method: "m".into(),
                params: json!([1]),
            }),
        );
        check(
            r#"{"method":"m"}"#,
            Some(Message::Notification {
                method: "m".into(),
                params: Value::Null,
            }),
        );
        check(
            r#"{"id":1,"result":null}"#,
            Some(Message::Response {
                id: json!(1),
                result: Ok(Value::Null),
            }),
        );
        check(
            r#"{"id":1,"error":{"code":-32000,"message":"no"}}"#,
            Some(Message::Response {
                id: json!(1),
                result: Err(RpcError::new(AUTH_REQUIRED, "no".into())),
            }),
        );
    }
}
