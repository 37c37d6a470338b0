//! Parses `result.json` of a trial of Harbor, and `swe-ci.json`, which the
//! verifier of our tasks leaves beside the reward.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{BadLine, bad, json, text, tokens};
use crate::usage::Usage;

/// What a trial of Harbor is about, and how many steps it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Of the split.
    pub task: TrialOf,
    /// The agent with its model, as Harbor names them.
    pub agent: String,
    /// The exception that ended it, if one did.
    pub exception: Option<String>,
    pub usage: Option<Usage>,
    pub steps: Vec<TrialStep>,
}

/// A task of a split, in one of its two forms; or a task that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialOf {
    Step(String),
    Evolution(String),
    Foreign(String),
}

impl TrialOf {
    fn named(name: &str) -> Self {
        match name.split_once('/') {
            Some(("swe-ci", task)) => Self::Step(task.into()),
            Some(("swe-ci-evolution", task)) => Self::Evolution(task.into()),
            _ => Self::Foreign(name.into()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialStep {
    pub name: String,
    pub usage: Option<Usage>,
}

/// What the verifier saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierReport {
    pub task_id: String,
    pub current_sha: String,
    pub target_sha: String,
    /// T.
    pub tests: Vec<String>,
    /// All tests that the base passes.
    pub base_passing: Vec<String>,
    /// Why the code collapsed, or the report as pytest-json-report writes it.
    pub report: Result<String, String>,
}

/// The format of `swe-ci.json` that this program reads.
pub const FORMAT: u32 = 1;

/// Parses `result.json` of a trial.
///
/// # Errors
/// [`BadLine`] when it is not JSON of this shape.
pub fn trial(bytes: &[u8]) -> Result<Trial, BadLine> {
    let raw: RawTrial = json(1, text(bytes)?)?;
    let model = raw.agent_info.model_info;
    let agent = match model {
        Some(model) => format!("{} with {}", raw.agent_info.name, model.name),
        None => raw.agent_info.name,
    };
    let steps = raw.step_results.unwrap_or_default();
    for step in &steps {
        check_step_name(&step.step_name)?;
    }
    Ok(Trial {
        task: TrialOf::named(&raw.task_name),
        agent,
        exception: raw.exception_info.map(|e| e.exception_type),
        usage: raw.agent_result.and_then(RawUsage::usage),
        steps: steps
            .into_iter()
            .map(|step| TrialStep {
                name: step.step_name,
                usage: step.agent_result.and_then(RawUsage::usage),
            })
            .collect(),
    })
}

/// Whether this is the `result.json` of a whole job, not of a trial.
pub fn is_of_job(bytes: &[u8]) -> bool {
    serde_json::from_slice::<RawJob>(bytes)
        .is_ok_and(|job| job.task_name.is_none() && job.stats.is_some())
}

/// It becomes part of a path.
fn check_step_name(name: &str) -> Result<(), BadLine> {
    match crate::task::is_plain_name(name) {
        true => Ok(()),
        false => {
            let name = name.escape_debug();
            Err(bad(
                1,
                format!("`step_name` is `{name}`, which names no step of our tasks"),
            ))
        }
    }
}

/// Parses `swe-ci.json`.
///
/// # Errors
/// [`BadLine`] when it is not JSON of this shape, or of another format.
pub fn verifier_report(bytes: &[u8]) -> Result<VerifierReport, BadLine> {
    let raw: RawVerifierReport = json(1, text(bytes)?)?;
    if raw.format != FORMAT {
        return Err(bad(
            1,
            format!(
                "`format` is {}, and this program reads {FORMAT}",
                raw.format
            ),
        ));
    }
    let report = match (raw.collapse, raw.report) {
        (Some(why), None) => Err(why),
        (None, Some(report)) => Ok(report.to_string()),
        _ => {
            let problem = "either `collapse` or `report` is set, and the other is null";
            return Err(bad(1, problem));
        }
    };
    if raw.tests.is_empty() {
        return Err(bad(1, "`tests` is empty; a task has tests"));
    }
    Ok(VerifierReport {
        task_id: raw.task_id,
        current_sha: raw.current_sha,
        target_sha: raw.target_sha,
        tests: raw.tests,
        base_passing: raw.base_passing,
        report,
    })
}

#[derive(Deserialize)]
struct RawJob {
    task_name: Option<IgnoredAny>,
    stats: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct RawTrial {
    task_name: String,
    agent_info: RawAgent,
    agent_result: Option<RawUsage>,
    exception_info: Option<RawException>,
    step_results: Option<Vec<RawStep>>,
}

#[derive(Deserialize)]
struct RawAgent {
    name: String,
    model_info: Option<RawModel>,
}

#[derive(Deserialize)]
struct RawModel {
    name: String,
}

#[derive(Deserialize)]
struct RawException {
    exception_type: String,
}

#[derive(Deserialize)]
struct RawStep {
    step_name: String,
    agent_result: Option<RawUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawUsage {
    n_input_tokens: Value,
    n_cache_tokens: Value,
    n_output_tokens: Value,
}

impl RawUsage {
    fn usage(self) -> Option<Usage> {
        Some(Usage {
            input_tokens: tokens(&self.n_input_tokens)?,
            output_tokens: tokens(&self.n_output_tokens).unwrap_or(0),
            cached_tokens: tokens(&self.n_cache_tokens).unwrap_or(0),
            reasoning_tokens: 0,
        })
    }
}

#[derive(Deserialize)]
struct RawVerifierReport {
    format: u32,
    task_id: String,
    current_sha: String,
    target_sha: String,
    tests: Vec<String>,
    base_passing: Vec<String>,
    collapse: Option<String>,
    report: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_trial() {
        let check = |name: &str, expect: TrialOf| {
            let text = format!(
                r#"{{"task_name": "{name}", "agent_info": {{"name": "a", "model_info": {{"name": "m"}}}},
                    "agent_result": {{"n_input_tokens": 7, "n_output_tokens": 2}}, "id": 1,
                    "step_results": [{{"step_name": "iteration-0001"}}]}}"#
            );
            let trial = trial(text.as_bytes()).unwrap();
            assert_eq!(trial.task, expect);
            assert_eq!(trial.agent, "a with m");
            assert_eq!(trial.usage.unwrap().total(), 9);
            assert_eq!(trial.steps[0].name, "iteration-0001");
        };
        check("swe-ci/t-1", TrialOf::Step("t-1".into()));
        check("swe-ci-evolution/t-1", TrialOf::Evolution("t-1".into()));
        check("harbor/hello", TrialOf::Foreign("harbor/hello".into()));
    }

    #[test]
    fn refuses_what_is_no_trial() {
        let check = |text: &str, expect: &str| {
            let problem = trial(text.as_bytes()).unwrap_err().to_string();
            assert!(problem.contains(expect), "{problem}");
        };
        check("{\n}", "line 2: column 1: missing field `task_name`");
        check(r#"{"task_name": "a/b"}"#, "`agent_info`");
        check(r#"{"task_name": 1}"#, "invalid type");
        let agent = r#""task_name": "a/b", "agent_info": {"name": "a"}"#;
        let step = r#""step_results": [{"step_name": "../x"}]"#;
        check(&format!("{{{agent}, {step}}}"), "`step_name` is `../x`");
    }

    #[test]
    fn jobs_have_statistics_and_no_task() {
        let check = |text: &str, expect: bool| assert_eq!(is_of_job(text.as_bytes()), expect);
        check(
            r#"{"id": "1", "n_total_trials": 2, "stats": {"n_trials": 2}}"#,
            true,
        );
        check(r#"{"task_name": "swe-ci/a", "stats": {}}"#, false);
        check("{\n}", false);
        check("[", false);
    }

    #[test]
    fn refuses_what_the_verifier_does_not_write() {
        let with = |field: &str, value: &str| {
            let mut fields = std::collections::BTreeMap::from([
                ("format", "1"),
                ("task_id", "\"t\""),
                ("current_sha", "\"a\""),
                ("target_sha", "\"b\""),
                ("tests", "[\"t\"]"),
                ("base_passing", "[]"),
                ("collapse", "null"),
                ("report", "{}"),
            ]);
            fields.insert(field, value);
            let fields: Vec<String> = fields
                .iter()
                .map(|(f, v)| format!("\"{f}\": {v}"))
                .collect();
            verifier_report(format!("{{{}}}", fields.join(", ")).as_bytes())
        };
        assert_eq!(with("format", "1").unwrap().report, Ok("{}".into()));
        let check = |field: &str, value: &str, expect: &str| {
            let problem = with(field, value).unwrap_err().to_string();
            assert!(problem.contains(expect), "{problem}");
        };
        check("format", "2", "`format` is 2");
        check("report", "null", "`collapse` or `report`");
        check("collapse", "\"why\"", "`collapse` or `report`");
        check("tests", "[]", "`tests` is empty");
        check("tests", "7", "invalid type");
    }
}
