//! The verdict of a trial on harness, endpoint and key, with advice.

use swe_ci_core::agent::Endpoint;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_views::view::StepView;

use super::trial::{PlayedStep, TrialResult};

#[derive(Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub works: bool,
    pub verdict: String,
    pub advice: Vec<String>,
}

/// Tells first whether the agents worked, and then what would hurt a long run.
pub fn diagnose(config: &RunConfig, result: &TrialResult) -> Diagnosis {
    let works = result.is_done(Role::Architect) && result.is_done(Role::Programmer);
    let (verdict, mut advice) = match failed(result) {
        _ if works => (it_works(result), Vec::new()),
        Some(played) => (failure_verdict(played), advice_for(config, played)),
        None => ("does not work: no agent did anything".into(), Vec::new()),
    };
    advice.extend(uncounted(result));
    advice.extend(in_trouble(result));
    advice.extend(unpriced(config));
    Diagnosis {
        works,
        verdict,
        advice,
    }
}

/// The last step of an agent that failed.
fn failed(result: &TrialResult) -> Option<&PlayedStep> {
    let agents = result.steps.iter().filter(|p| p.step.role != Role::Test);
    agents
        .rev()
        .find(|played| played.step.outcome != StepOutcome::Done)
}

fn it_works(result: &TrialResult) -> String {
    let mut tests = result.steps.iter().filter(|p| p.step.role == Role::Test);
    let tested = match tests.next_back().map(|played| played.step.outcome) {
        Some(StepOutcome::Collapsed) => ", though the tests do not run on it any more".to_owned(),
        _ => format!("; {} of {} tests pass now", result.passed, result.tests),
    };
    format!("works: the agent wrote a document and changed the code{tested}")
}

fn failure_verdict(PlayedStep { step, answers }: &PlayedStep) -> String {
    let role = step.role.name();
    let what = match step.outcome {
        StepOutcome::ProviderFailed => "the provider failed".to_owned(),
        StepOutcome::BudgetSpent | StepOutcome::EvolutionBudgetSpent => {
            format!("the {role} used too much")
        }
        StepOutcome::MalformedRequirement => "there is no document to go on with".to_owned(),
        StepOutcome::NoChange => {
            return "does not work: the agent wrote a document and changed no code".into();
        }
        StepOutcome::AgentTimedOut => format!("the {role} did not finish"),
        StepOutcome::InfraFailed => "the platform failed".to_owned(),
        _ => format!("the {role} failed"),
    };
    let refused = answers.iter().rev().find_map(|a| a.error.as_deref());
    match refused.filter(|why| !step.detail.contains(*why)) {
        Some(why) => format!("does not work: {what}: {} ({why})", step.detail),
        None => format!("does not work: {what}: {}", step.detail),
    }
}

fn advice_for(config: &RunConfig, PlayedStep { step, .. }: &PlayedStep) -> Vec<String> {
    let used_model = step.traffic.is_some_and(|traffic| traffic.requests > 0);
    let endpoint = config.agent(step.role).and_then(|agent| agent.endpoint);
    let advice = match (step.outcome, &endpoint) {
        (StepOutcome::ProviderFailed, Some(endpoint)) => provider(endpoint, step),
        (StepOutcome::BudgetSpent | StepOutcome::EvolutionBudgetSpent, _) => {
            "a task this small needs a fraction of that, and a real one many times as much: another harness may send less".into()
        }
        (StepOutcome::InfraFailed, _) => "`swe-ci doctor` checks everything that is needed".into(),
        (StepOutcome::AgentTimedOut, _) if !used_model => format!(
            "the agent sent its model no request within {} s: it starts slowly, or hangs at its start; see its last output, and try again when the machine is less busy",
            super::AGENT_SECONDS
        ),
        _ if !used_model => {
            "the agent sent its model no request, so the fault is in its start: see its last output".into()
        }
        (StepOutcome::AgentTimedOut, _) => format!(
            "a check gives an agent {} s, a run limits.agent_seconds ({} s unless configured): a slow model may succeed there",
            super::AGENT_SECONDS,
            swe_ci_core::run::Limits::default().agent_seconds
        ),
        (StepOutcome::MalformedRequirement | StepOutcome::NoChange, _) => {
            "the model answered and did not do the work: it may not call tools, or not those of this harness; try again, then another harness or a larger model (a run tries plan.max_attempts times)".into()
        }
        _ => {
            "see its last output; if the provider refused a request, the model may not take a parameter or the tools of this harness (endpoint.parameters sets parameters)".into()
        }
    };
    vec![advice]
}

/// Advice by the provider's HTTP status, which is in the step's detail.
fn provider(endpoint: &Endpoint, step: &StepView) -> String {
    let (model, url, protocol) = (&endpoint.model, &endpoint.url, endpoint.protocol);
    match (http_status(&step.detail), &endpoint.key) {
        (Some(401 | 403), Some(key)) => format!(
            "the key `{key}` was refused: replace it where it is stored (an account's on the page /keys, the operator's with `swe-ci key set {key}`), and check that it belongs to {url}"
        ),
        (Some(401 | 403), None) => "the endpoint needs a key: store one (on the page /keys, or as operator with `swe-ci key set NAME`), and name it in endpoint.key".into(),
        (Some(402 | 429), _) => "the account has no credit left, or its limits are below what one agent needs: look at the provider's page about it".into(),
        (Some(404 | 405), _) => format!(
            "there is no model `{model}` there, or nothing speaks `{protocol}` at {url}: compare all three with the provider's documentation (the address ends with its version, such as /v1)"
        ),
        (Some(_), _) => "the provider is in trouble; try again later".into(),
        (None, _) if step.detail.contains("no part of an answer") => format!(
            "{url} takes requests and answers nothing: the model may still be loading, or its queue be full"
        ),
        (None, _) if step.detail.contains("no answer") => format!(
            "nothing answers at {url}: check that it is right, and reachable from this machine"
        ),
        (None, _) if step.detail.contains("broke off") => format!(
            "the connection was cut in the middle of an answer: look whether a proxy before {url} limits how long one may take"
        ),
        (None, _) => format!(
            "what came from {url} is not what the protocol `{protocol}` has: check that the endpoint speaks it"
        ),
    }
}

/// The status in `… HTTP 401 Unauthorized: …`.
fn http_status(detail: &str) -> Option<u16> {
    let (_, rest) = detail.split_once("HTTP ")?;
    rest.get(..3)?.parse().ok()
}

fn uncounted(result: &TrialResult) -> Option<String> {
    let answers = result.steps.iter().flat_map(|played| &played.answers);
    let good: Vec<_> = answers.filter(|answer| answer.error.is_none()).collect();
    let silent = good.iter().filter(|answer| !answer.counted).count();
    (silent > 0).then(|| {
        format!(
            "in {silent} of {} answers the provider did not report their usage: tokens and cost are not counted, and budget.tokens and budget.usd cannot hold; budget.requests and budget.seconds do",
            good.len()
        )
    })
}

fn in_trouble(result: &TrialResult) -> Option<String> {
    let mut steps = result.agent_steps();
    if steps.any(|step| step.outcome == StepOutcome::ProviderFailed) {
        // The verdict says so already.
        return None;
    }
    let traffic = || result.agent_steps().filter_map(|step| step.traffic);
    let retries: u64 = traffic().map(|traffic| traffic.retries).sum();
    let waited: u64 = traffic().map(|traffic| traffic.waiting_ms).sum();
    (retries > 0).then(|| {
        format!(
            "{retries} requests to the provider were retried ({} s of waiting): many evolutions at once will wait for it",
            waited.div_ceil(1_000)
        )
    })
}

fn unpriced(config: &RunConfig) -> Option<String> {
    let roles = [Role::Architect, Role::Programmer];
    let mut endpoints = roles.iter().filter_map(|r| config.agent(*r)?.endpoint);
    let endpoint = endpoints.find(|endpoint| endpoint.prices.is_none())?;
    Some(format!(
        "the price of `{0}` is unknown, so cost is not counted and budget.usd is refused: swe-ci price set {0} --input USD --output USD",
        endpoint.model
    ))
}

#[cfg(test)]
mod tests {
    use super::super::trial::ProviderAnswer;
    use super::*;
    use swe_ci_core::agent::{HarnessConfig, Protocol};
    use swe_ci_core::usage::{Prices, Traffic};

    fn config(key: Option<&str>) -> RunConfig {
        let mut config = RunConfig::human("check");
        config.harness = HarnessConfig::Builtin;
        config.endpoint = Some(Endpoint {
            protocol: Protocol::Chat,
            url: "https://api.example.org/v1".into(),
            model: "m".into(),
            key: key.map(str::to_owned),
            prices: Some(Prices {
                input: 1.0,
                cached: None,
                output: 1.0,
            }),
            ..Endpoint::default()
        });
        config
    }

    fn played(role: Role, outcome: StepOutcome, detail: &str) -> PlayedStep {
        let traffic = Traffic {
            requests: u64::from(!detail.contains("exit code 127") && detail != "silent"),
            ..Traffic::default()
        };
        PlayedStep {
            step: StepView {
                iteration: 1,
                role,
                attempt: 1,
                outcome,
                detail: detail.into(),
                seconds: 1.0,
                finished_at: None,
                usage: None,
                traffic: Some(traffic),
                truncation: None,
                recording: None,
                container: None,
            },
            answers: Vec::new(),
        }
    }

    fn result(steps: Vec<PlayedStep>) -> TrialResult {
        TrialResult {
            steps,
            passed: 2,
            tests: 3,
            last_lines: Vec::new(),
        }
    }

    #[test]
    fn each_end_has_its_words_and_its_advice() {
        use Role::{Architect, Programmer, Test};
        use StepOutcome as Out;
        let check = |steps: Vec<PlayedStep>, key: Option<&str>, verdict: &str, advice: &str| {
            let diagnosis = diagnose(&config(key), &result(steps));
            assert_eq!(
                diagnosis.works,
                verdict.starts_with("works"),
                "{diagnosis:?}"
            );
            assert!(diagnosis.verdict.contains(verdict), "{diagnosis:?}");
            match diagnosis.advice.as_slice() {
                [] => assert_eq!(advice, ""),
                [only] => assert!(!advice.is_empty() && only.contains(advice), "{diagnosis:?}"),
                more => panic!("{more:?}"),
            }
        };
        let document = || played(Architect, Out::Done, "");
        let changed = || played(Programmer, Out::Done, "");
        let ends = |outcome, detail: &str| vec![played(Architect, outcome, detail)];
        let scored = played(Test, Out::Scored { solved: false }, "");
        let good = vec![document(), changed(), scored];
        check(
            good,
            None,
            "works: the agent wrote a document and changed the code; 2 of 3 tests pass now",
            "",
        );
        let broken = vec![document(), changed(), played(Test, Out::Collapsed, "")];
        check(
            broken,
            None,
            "works: the agent wrote a document and changed the code, though the tests do not run",
            "",
        );
        let unchanged = vec![document(), played(Programmer, Out::NoChange, "")];
        check(unchanged, None, "changed no code", "may not call tools");
        check(Vec::new(), None, "no agent did anything", "");

        let provider = |detail: &str, key, advice: &str| {
            check(ends(Out::ProviderFailed, detail), key, detail, advice);
        };
        provider(
            "the provider answered HTTP 401 Unauthorized: bad key",
            Some("acme"),
            "`swe-ci key set acme`",
        );
        provider(
            "the provider answered HTTP 401 Unauthorized: no key",
            None,
            "needs a key",
        );
        provider(
            "the provider answered HTTP 404 Not Found: m",
            None,
            "no model `m`",
        );
        provider(
            "and still fails: HTTP 429 Too Many Requests: slow down",
            None,
            "no credit",
        );
        provider(
            "and still fails: HTTP 503 Service Unavailable",
            None,
            "in trouble",
        );
        provider(
            "and still fails: no answer (Connection refused)",
            None,
            "nothing answers at https://",
        );
        let broken = "the provider's answer broke off: end of file";
        provider(broken, None, "a proxy before https://");
        let silent = "no part of an answer within 30 s; a request of the platform's own: no answer within 120 s";
        provider(silent, None, "still be loading");
        provider(
            "the provider's answer ended before its end",
            None,
            "protocol `chat`",
        );

        check(
            ends(Out::BudgetSpent, "x"),
            None,
            "used too much: x",
            "a fraction",
        );
        check(
            ends(Out::AgentTimedOut, "x"),
            None,
            "did not finish: x",
            "120 s",
        );
        check(
            ends(Out::AgentTimedOut, "silent"),
            None,
            "did not finish: silent",
            "starts slowly",
        );
        check(
            ends(Out::MalformedRequirement, "x"),
            None,
            "no document to go on with: x",
            "call tools",
        );
        check(
            ends(Out::InfraFailed, "x"),
            None,
            "the platform failed: x",
            "swe-ci doctor",
        );
        check(
            ends(Out::AgentFailed, "exit code 127"),
            None,
            "exit code 127",
            "in its start",
        );
        check(
            ends(Out::AgentFailed, "exit code 1"),
            None,
            "exit code 1",
            "endpoint.parameters",
        );
    }

    #[test]
    fn problems_of_long_runs_are_reported() {
        let mut config = config(None);
        config.endpoint.as_mut().unwrap().prices = None;
        let mut step = played(Role::Architect, StepOutcome::AgentFailed, "exit code 1");
        let traffic = step.step.traffic.as_mut().unwrap();
        (traffic.retries, traffic.waiting_ms) = (2, 1_500);
        let answered = |counted, error: Option<&str>| ProviderAnswer {
            counted,
            error: error.map(str::to_owned),
        };
        let refused = "the provider answered HTTP 400 Bad Request: tools";
        step.answers = vec![
            answered(true, None),
            answered(false, None),
            answered(false, Some(refused)),
        ];
        let diagnosis = diagnose(&config, &result(vec![step]));
        assert_eq!(
            diagnosis.verdict,
            format!("does not work: the architect failed: exit code 1 ({refused})")
        );
        let [_, uncounted, waited, unpriced] = diagnosis.advice.as_slice() else {
            panic!("{diagnosis:?}");
        };
        assert!(uncounted.contains("in 1 of 2 answers"), "{uncounted}");
        assert!(
            waited.contains("2 requests to the provider were retried (2 s"),
            "{waited}"
        );
        assert!(unpriced.contains("swe-ci price set m "), "{unpriced}");
    }
}
