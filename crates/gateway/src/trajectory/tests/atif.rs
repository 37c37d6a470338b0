//! Tests of the ATIF export, against the rules of the format.

use std::collections::HashSet;

use serde_json::Map;
use swe_ci_core::usage::Prices;

use super::*;
use crate::trajectory::About;

pub(super) fn about() -> About {
    About {
        session: "evolution/3/programmer".into(),
        harness: "opencode".into(),
        version: Some("1.18.33".into()),
        model: "m".into(),
        prices: Some(Prices {
            input: 3.0,
            cached: Some(0.3),
            output: 15.0,
        }),
        extra: Map::from_iter([("task".to_owned(), "tiny".into())]),
    }
}

pub(super) fn exported(conversations: &Conversations) -> Value {
    serde_json::to_value(conversations.atif(&about())).unwrap()
}

/// Checks the rules of the format, like its own models.
fn valid(trajectory: &Value) -> Result<(), String> {
    only(
        trajectory,
        "schema_version session_id trajectory_id agent steps",
        "notes final_metrics continued_trajectory_ref extra subagent_trajectories",
    )?;
    only(
        &trajectory["agent"],
        "name version",
        "model_name tool_definitions extra",
    )?;
    let totals = "total_prompt_tokens total_completion_tokens total_cached_tokens \
        total_cost_usd total_steps extra";
    only(&trajectory["final_metrics"], "", totals)?;
    let steps = trajectory["steps"]
        .as_array()
        .filter(|steps| !steps.is_empty());
    let steps = steps.ok_or("no steps")?;
    for (number, step) in (1..).zip(steps) {
        valid_step(number, step).map_err(|why| format!("step {number}: {why}: {step}"))?;
    }
    let inside = trajectory["subagent_trajectories"].as_array();
    let mut ids = HashSet::new();
    for inner in inside.into_iter().flatten() {
        valid(inner)?;
        ensure(ids.insert(inner["trajectory_id"].as_str()), "an id twice")?;
    }
    Ok(())
}

fn valid_step(number: u64, step: &Value) -> Result<(), String> {
    let for_agents = "model_name reasoning_effort reasoning_content tool_calls metrics";
    let others = "timestamp observation is_copied_context llm_call_count extra";
    let may = match step["source"].as_str() {
        Some("agent") => format!("{others} {for_agents}"),
        Some("user" | "system") => others.to_owned(),
        _ => return Err("source".into()),
    };
    only(step, "step_id source message", &may)?;
    ensure(step["step_id"] == number, "step_id")?;
    ensure(step["message"].is_string(), "message")?;
    let time = step["timestamp"].as_str().unwrap_or_default();
    ensure(time.parse::<jiff::Timestamp>().is_ok(), "timestamp")?;
    let mut ids = HashSet::new();
    for call in step["tool_calls"].as_array().into_iter().flatten() {
        only(call, "tool_call_id function_name arguments", "extra")?;
        ensure(call["arguments"].is_object(), "arguments")?;
        ids.insert(call["tool_call_id"].as_str().ok_or("tool_call_id")?);
    }
    if let Some(observation) = step.get("observation") {
        only(observation, "results", "")?;
    }
    for result in step["observation"]["results"]
        .as_array()
        .into_iter()
        .flatten()
    {
        only(
            result,
            "content",
            "source_call_id subagent_trajectory_ref extra",
        )?;
        ensure(result["content"].is_string(), "content")?;
        let source = result.get("source_call_id").map(|id| id.as_str());
        ensure(
            source.is_none_or(|id| id.is_some_and(|id| ids.contains(id))),
            "source",
        )?;
    }
    match step.get("metrics") {
        None => Ok(()),
        Some(metrics) => only(
            metrics,
            "prompt_tokens completion_tokens cached_tokens",
            "cost_usd prompt_token_ids completion_token_ids logprobs extra",
        ),
    }
}

/// Checks that an object has all fields in `must`, and otherwise only fields in
/// `may`.
fn only(object: &Value, must: &str, may: &str) -> Result<(), String> {
    let object = object.as_object().ok_or("no object")?;
    for field in must.split_whitespace() {
        ensure(object.contains_key(field), field)?;
    }
    for field in object.keys() {
        let mut known = must.split_whitespace().chain(may.split_whitespace());
        ensure(known.any(|name| name == field), field)?;
    }
    Ok(())
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

#[test]
fn every_protocol_gives_a_valid_trajectory() {
    for protocol in Protocol::ALL {
        for streamed in [true, false] {
            let exchanges = usual((protocol, streamed));
            for count in 0..=exchanges.len() {
                let trajectory = exported(&recorded(&exchanges[..count]));
                assert_eq!(valid(&trajectory), Ok(()), "{protocol} {trajectory:#}");
            }
        }
    }
}

#[test]
fn steps_hold_calls_results_and_metrics() {
    let mut exchanges = usual((Protocol::Chat, true));
    exchanges[3].complete = false;
    exchanges[3].error = Some("broke off".into());
    let trajectory = exported(&recorded(&exchanges));
    let steps = trajectory["steps"].as_array().unwrap();
    let sources: Vec<_> = steps
        .iter()
        .map(|step| step["source"].as_str().unwrap())
        .collect();
    assert_eq!(
        sources,
        ["system", "user", "agent", "agent", "user", "agent"]
    );
    assert_eq!(
        steps[2],
        json!({
            "step_id": 3,
            "timestamp": "2026-11-21T19:00:14Z",
            "source": "agent",
            "message": "Let me look.",
            "model_name": "m-2026",
            "reasoning_content": "Where is it?",
            "tool_calls": [
                {"tool_call_id": "call_1", "function_name": "bash", "arguments": {"command": "ls"}},
            ],
            "observation": {
                "results": [{"source_call_id": "call_1", "content": "double.py\ntests"}],
            },
            "metrics": {
                "prompt_tokens": 1_000,
                "completion_tokens": 20,
                "cached_tokens": 500,
                "cost_usd": 0.00195,
                "extra": {"reasoning_tokens": 5},
            },
            "llm_call_count": 1,
            "extra": {"exchange": 1, "finish_reason": "stop", "duration_ms": 4_000},
        })
    );
    let results = steps[3]["observation"]["results"].as_array().unwrap();
    let ids: Vec<_> = results
        .iter()
        .map(|result| &result["source_call_id"])
        .collect();
    assert_eq!(ids, ["call_2", "call_3"]);
    assert_eq!(steps[5]["extra"]["complete"], false);
    assert_eq!(steps[5]["extra"]["error"], "broke off");
    let totals = &trajectory["final_metrics"];
    assert_eq!(totals["total_prompt_tokens"], 8_000);
    assert_eq!(totals["total_steps"], 6);
    // The title costs money too.
    let title = &trajectory["subagent_trajectories"][0];
    assert_eq!(title["steps"][2]["message"], "Doubling");
    assert_eq!(title["final_metrics"]["total_cost_usd"], 0.00495);
    assert_eq!(totals["total_cost_usd"], 0.0258);
    assert_eq!(
        trajectory["agent"]["tool_definitions"][0]["function"]["name"],
        "bash"
    );
    assert_eq!(trajectory["extra"]["task"], "tiny");
}

#[test]
fn results_find_their_calls() {
    let call = |id: Option<&str>, name: &str| Call {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: json!("text"),
    };
    let result = |call: Option<&str>, name: Option<&str>| CallResult {
        call: call.map(str::to_owned),
        name: name.map(str::to_owned),
        text: "r".into(),
        failed: true,
    };
    let check = |calls: &[Call], results: &[CallResult], expect: &[Option<&str>]| {
        let history = [
            Message {
                calls: calls.to_vec(),
                ..agent("")
            },
            Message {
                results: results.to_vec(),
                ..Message::new(Speaker::Tool, "")
            },
        ];
        let how = (Protocol::Chat, false);
        let mut one = exchange(how, 1, SYSTEM, &[user("?")], &agent(""));
        one.response = wire::answer(Protocol::Chat, false, &history[0]);
        let mut all = recorded(std::slice::from_ref(&one)).0;
        all[0].turns[0].answer.message = history[0].clone();
        all[0].turns[0].results = results.to_vec();
        let steps = crate::trajectory::atif::steps(&about(), &all[0]);
        let steps = serde_json::to_value(steps).unwrap();
        let step = &steps[steps.as_array().unwrap().len() - 1];
        assert_eq!(
            valid_step(steps.as_array().unwrap().len() as u64, step),
            Ok(())
        );
        assert_eq!(step["tool_calls"][0]["arguments"], json!({"input": "text"}));
        let found = step["observation"]["results"].as_array().unwrap();
        let found: Vec<_> = found.iter().map(|r| r["source_call_id"].as_str()).collect();
        assert_eq!(found, expect);
    };
    let ids = [call(Some("a"), "f"), call(Some("b"), "f")];
    check(
        &ids,
        &[result(Some("b"), None), result(Some("a"), None)],
        &[Some("b"), Some("a")],
    );
    check(&ids, &[result(Some("x"), None)], &[None]);
    check(
        &ids,
        &[result(None, None), result(None, None)],
        &[Some("a"), Some("b")],
    );
    let names = [call(None, "f"), call(None, "g"), call(None, "f")];
    let results = [
        result(None, Some("f")),
        result(Some("made up"), Some("f")),
        result(None, Some("g")),
        result(None, Some("g")),
    ];
    check(
        &names,
        &results,
        &[Some("3.1"), Some("3.3"), Some("3.2"), None],
    );
}

/// Pseudo-random numbers with a fixed seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn word(&mut self) -> &'static str {
        const WORDS: &str = "messages role assistant user tool content tool_calls function \
            arguments id type tool_use input contents parts functionCall functionResponse choices \
            delta candidates output response message index text name content_block_delta item";
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        words[self.below(words.len() as u64) as usize]
    }

    /// Random JSON made of field names and values that the parsers know.
    fn json(&mut self, depth: u64) -> Value {
        let few = 0..self.below(5);
        match self.below(4 + 3 * depth) {
            0 => Value::Null,
            1 => Value::from(self.below(2) == 0),
            2 => Value::from(self.below(5) as i64 - 2),
            3 => Value::from(self.word()),
            4..7 => few.map(|_| self.json(depth - 1)).collect(),
            _ => Value::Object(
                few.map(|_| (self.word().to_owned(), self.json(depth - 1)))
                    .collect(),
            ),
        }
    }
}

#[test]
fn random_exchanges_give_a_valid_trajectory() {
    for seed in 0..1_000 {
        let mut dice = Dice(seed);
        let count = dice.below(6) as u32;
        let exchanges: Vec<Exchange> = (1..=count)
            .map(|ordinal| {
                let how = (Protocol::ALL[dice.below(4) as usize], dice.below(2) == 0);
                let mut exchange = exchange(how, ordinal, SYSTEM, &[], &agent(""));
                // The lists of a request exist, with random contents.
                for field in ["messages", "input", "contents"] {
                    exchange.request[field] = dice.json(5);
                }
                let pieces: Vec<Value> = (0..dice.below(4)).map(|_| dice.json(6)).collect();
                exchange.response = match how.1 {
                    true => wire::events(&pieces),
                    false => Value::from(pieces).to_string(),
                };
                exchange
            })
            .collect();
        let trajectory = exported(&recorded(&exchanges));
        assert_eq!(valid(&trajectory), Ok(()), "seed {seed}");
    }
}
