//! Permissions. Nobody is there to ask, and the container is the boundary: what
//! the agent asks for is allowed, this time only.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::{RpcError, params};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    options: Vec<Choice>,
    #[serde(default)]
    tool_call: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

/// The subject of the agent's request, and the driver's answer.
#[derive(Debug)]
pub struct Decision {
    pub subject: String,
    pub is_allowed: bool,
    pub result: Value,
}

/// `is_cancelled`: the client has cancelled the turn, and says so in every
/// answer.
pub fn decide(request: Value, is_cancelled: bool) -> Result<Decision, RpcError> {
    let request: Request = params(request)?;
    let with = |kind| request.options.iter().find(|choice| choice.kind == kind);
    let choice = with("allow_once").or_else(|| with("allow_always"));
    let outcome = match choice {
        Some(choice) if !is_cancelled => {
            json!({ "outcome": "selected", "optionId": choice.option_id })
        }
        _ => json!({ "outcome": "cancelled" }),
    };
    let title = request.tool_call["title"].as_str();
    Ok(Decision {
        subject: title.unwrap_or("something without a title").to_owned(),
        is_allowed: choice.is_some() && !is_cancelled,
        result: json!({ "outcome": outcome }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_allowance_is_chosen() {
        let check = |kinds: &[&str], is_cancelled: bool, expect: Option<&str>| {
            let options: Vec<Value> = kinds
                .iter()
                .map(|kind| json!({ "optionId": format!("o-{kind}"), "kind": kind, "name": "?" }))
                .collect();
            let decision = decide(json!({ "options": options }), is_cancelled).unwrap();
            let chosen = &decision.result["outcome"]["optionId"];
            assert_eq!(chosen.as_str(), expect, "{kinds:?}");
            assert_eq!(decision.is_allowed, expect.is_some());
        };
        let all = ["reject_once", "allow_always", "allow_once"];
        check(&all, false, Some("o-allow_once"));
        check(&all[..2], false, Some("o-allow_always"));
        check(&all[..1], false, None);
        check(&[], false, None);
        check(&all, true, None);
        assert!(decide(json!({}), false).is_err());
    }
}
