//! Exports conversations as ATIF: the main one is the trajectory, the others are
//! trajectories inside it. Reads those of other programs.

mod format;
mod read;

pub use format::Trajectory;
pub(super) use read::read;

use format::{
    Agent, CallExtra, FinalMetrics, Metrics, MetricsExtra, ObservationResult, ResultExtra, Source,
    Step, StepExtra, ToolCall, VERSION,
};
use serde_json::{Map, Value};
use swe_ci_base::clock::rfc3339;
use swe_ci_core::usage::{Prices, Usage};

use super::conversations::{Conversation, Turn};
use super::transcript::{Call, CallResult, Message, Speaker};
use crate::Exchange;

/// The metadata of a trajectory that is not in its exchanges.
#[derive(Debug, Clone)]
pub struct About {
    /// Identifies the step and its evolution.
    pub session: String,
    pub harness: String,
    /// The harness's version, if it has one.
    pub version: Option<String>,
    /// The model's name in the run's configuration.
    pub model: String,
    pub prices: Option<Prices>,
    pub extra: Map<String, Value>,
}

pub(super) fn atif(about: &About, all: &[Conversation]) -> Trajectory {
    // ATIF requires at least one step.
    let none = [Conversation {
        instructions: vec!["The model was not called.".to_owned()],
        ..Conversation::default()
    }];
    let numbered = (1..).zip(if all.is_empty() { &none } else { all });
    let mut trajectories: Vec<Trajectory> = numbered
        .map(|(number, conversation)| trajectory(about, number, conversation))
        .collect();
    let mut main = trajectories.remove(0);
    main.final_metrics.total_cost_usd = about.prices.map(|prices| {
        let turns = all.iter().flat_map(|conversation| &conversation.turns);
        let usages = turns.filter_map(|turn| turn.exchange.usage);
        usd(usages.map(|usage| prices.micro_usd(usage)).sum())
    });
    main.extra.clone_from(&about.extra);
    if !trajectories.is_empty() {
        main.notes = Some(format!(
            "subagent_trajectories holds the other {} conversations (titles, summaries, \
             sub-agents).",
            trajectories.len()
        ));
        main.subagent_trajectories = trajectories;
    }
    main
}

fn trajectory(about: &About, number: usize, conversation: &Conversation) -> Trajectory {
    let steps = steps(about, conversation);
    let mut sum = Usage::default();
    for turn in &conversation.turns {
        sum += turn.exchange.usage.unwrap_or_default();
    }
    Trajectory {
        schema_version: VERSION,
        session_id: about.session.clone(),
        trajectory_id: format!("{}#{number}", about.session),
        agent: Agent {
            name: about.harness.clone(),
            version: about.version.clone().unwrap_or_else(|| "unknown".into()),
            model_name: about.model.clone(),
            tool_definitions: conversation.tools.clone(),
        },
        notes: None,
        final_metrics: FinalMetrics {
            total_prompt_tokens: sum.input_tokens,
            total_completion_tokens: sum.output_tokens,
            total_cached_tokens: sum.cached_tokens,
            total_cost_usd: about.prices.map(|prices| usd(prices.micro_usd(sum))),
            total_steps: steps.len(),
        },
        steps,
        extra: Map::new(),
        subagent_trajectories: Vec::new(),
    }
}

fn usd(micro: u64) -> f64 {
    micro as f64 / 1e6
}

pub(super) fn steps(about: &About, conversation: &Conversation) -> Vec<Step> {
    let mut steps = Steps {
        about,
        now: 0,
        steps: Vec::new(),
    };
    steps.conversation(conversation);
    steps.steps
}

#[derive(Debug)]
struct Steps<'a> {
    about: &'a About,
    /// The time of the next step, in unix milliseconds.
    now: i64,
    steps: Vec<Step>,
}

impl Steps<'_> {
    fn conversation(&mut self, conversation: &Conversation) {
        let first = conversation.turns.first();
        self.now = first.map_or(0, |turn| turn.exchange.started_at);
        for text in &conversation.instructions {
            self.message(&Message::new(Speaker::System, text.clone()));
        }
        for turn in &conversation.turns {
            self.now = turn.exchange.started_at;
            for message in &turn.added {
                self.message(message);
            }
            self.now = turn.exchange.finished_at;
            self.answer(turn);
        }
        for message in &conversation.rest {
            self.message(message);
        }
    }

    /// Adds a message of the harness. A message of the agent in it comes from
    /// elsewhere.
    fn message(&mut self, message: &Message) {
        match message.speaker {
            Speaker::System => drop(self.step(Source::System, message)),
            Speaker::User => drop(self.step(Source::User, message)),
            Speaker::Assistant => {
                self.step(Source::Agent, message).is_copied_context = true;
            }
            Speaker::Tool => match self.steps.last_mut() {
                Some(step) if step.source == Source::Agent => step.observe(&message.results),
                _ => {
                    let alone = Message::new(Speaker::System, "");
                    self.step(Source::System, &alone).observe(&message.results);
                }
            },
        }
    }

    fn answer(&mut self, turn: &Turn) {
        let (about, answer) = (self.about, &turn.answer);
        let step = self.step(Source::Agent, &answer.message);
        step.llm_call_count = Some(1);
        let model = answer.model.clone();
        step.model_name = model.filter(|model| *model != about.model);
        let usage = turn.exchange.usage;
        step.metrics = usage.map(|usage| metrics(usage, about.prices));
        step.extra = exchange_extra(&turn.exchange);
        step.extra.notes.clone_from(&answer.message.notes);
        step.extra.finish_reason.clone_from(&answer.stopped);
        step.observe(&turn.results);
    }

    fn step(&mut self, source: Source, message: &Message) -> &mut Step {
        let step_id = self.steps.len() + 1;
        let calls = (1..).zip(&message.calls);
        let step = Step {
            step_id,
            timestamp: rfc3339(self.now),
            source,
            message: message.text.clone(),
            model_name: None,
            reasoning_content: message.reasoning.clone(),
            tool_calls: calls
                .map(|(number, call)| tool_call(step_id, number, call))
                .collect(),
            observation: None,
            metrics: None,
            is_copied_context: false,
            llm_call_count: None,
            extra: StepExtra {
                notes: message.notes.clone(),
                ..StepExtra::default()
            },
        };
        self.steps.push_mut(step)
    }
}

impl Step {
    /// Adds results of calls. Each is linked to a call of this step with the same
    /// id, otherwise to the first free call with the same name, otherwise to
    /// none.
    fn observe(&mut self, results: &[CallResult]) {
        for result in results {
            let observed = self.observation.get_or_insert_default();
            let is_free = |call: &&ToolCall| {
                let id = Some(&call.tool_call_id);
                let mut others = observed.results.iter();
                others.all(|other| other.source_call_id.as_ref() != id)
            };
            let calls = self.tool_calls.iter();
            let by_id = |call: &&ToolCall| result.call.as_ref() == Some(&call.tool_call_id);
            let by_name = |call: &&ToolCall| match &result.name {
                Some(name) => call.function_name == *name,
                None => result.call.is_none(),
            };
            let call = calls.clone().find(by_id);
            let call = call.or_else(|| calls.filter(is_free).find(by_name));
            let source_call_id = call.map(|call| call.tool_call_id.clone());
            observed.results.push(observation(result, source_call_id));
        }
    }
}

fn observation(result: &CallResult, source_call_id: Option<String>) -> ObservationResult {
    let unlinked = |name: &Option<String>| match source_call_id {
        None => name.clone(),
        Some(_) => None,
    };
    ObservationResult {
        content: result.text.clone(),
        extra: ResultExtra {
            is_error: result.failed,
            call: unlinked(&result.call),
            name: unlinked(&result.name),
        },
        source_call_id,
    }
}

/// A call without an id gets one. Arguments that are not an object are wrapped in
/// one, which ATIF requires.
fn tool_call(step_id: usize, number: usize, call: &Call) -> ToolCall {
    let (arguments, note) = match &call.arguments {
        Value::Object(arguments) => (arguments.clone(), None),
        other => {
            let note = "the arguments are not a JSON object; `input` holds them unchanged";
            let input = ("input".to_owned(), other.clone());
            (Map::from_iter([input]), Some(note))
        }
    };
    let id = call.id.clone();
    ToolCall {
        tool_call_id: id.unwrap_or_else(|| format!("{step_id}.{number}")),
        function_name: call.name.clone(),
        arguments,
        extra: CallExtra { note },
    }
}

fn metrics(usage: Usage, prices: Option<Prices>) -> Metrics {
    Metrics {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        cached_tokens: usage.cached_tokens,
        cost_usd: prices.map(|prices| usd(prices.micro_usd(usage))),
        extra: MetricsExtra {
            reasoning_tokens: usage.reasoning_tokens,
        },
    }
}

/// Irregularities of the exchange, and its ordinal.
fn exchange_extra(exchange: &Exchange) -> StepExtra {
    StepExtra {
        exchange: Some(exchange.ordinal),
        complete: (!exchange.complete).then_some(false),
        status: Some(exchange.status).filter(|&status| status != 200),
        error: exchange.error.clone(),
        duration_ms: exchange.finished_at.saturating_sub(exchange.started_at),
        retries: exchange.retries.len(),
        waiting_ms: exchange.waiting_ms,
        ..StepExtra::default()
    }
}
