//! The events and messages of a sample, in the order in which they happened.
//!
//! ```text
//! iteration 1
//!   architect      the main conversation, an event for each answer and each call
//!     conversation 2, …   side requests, in the order of their beginning
//!   programmer
//!   test           the verdict
//! iteration 2 …
//! ```

use std::ops::Range;

use serde_json::{Value, json};
use swe_ci_base::clock::{rfc3339, seconds_between};
use swe_ci_core::usage::Usage;
use swe_ci_gateway::trajectory::atif::{self, ObservationResult, Source, Step, Trajectory};
use swe_ci_views::view::IterationView;

use super::RecordedStep;
use super::format::{
    CallError, Choice, Content, Event, Failure, Input, Kind, Message, ModelCall, ModelUsage,
    Output, Part, Said, Score, Stamp, StopReason, Tool, ToolCall, ToolRun,
};

/// The name of the scorer.
pub const SCORER: &str = "swe_ci";
/// The source of events that are no conversation.
const SOURCE: &str = "swe-ci";

#[derive(Debug, Default)]
pub struct Transcript {
    pub events: Vec<Event>,
    /// All messages, each once.
    pub pool: Vec<Message>,
    /// Where the main conversations of the steps are in the pool.
    main: Vec<Range<usize>>,
    /// Identifies the evolution.
    evolution_id: String,
    /// The beginning of the first step, in unix milliseconds.
    origin: i64,
    /// The latest time so far.
    now: i64,
    /// The open spans, outermost first.
    spans: Vec<String>,
}

impl Transcript {
    /// Of these steps, in order, and their iterations.
    pub fn new(evolution_id: &str, steps: &[RecordedStep], iterations: &[IterationView]) -> Self {
        let origin = steps.first().map_or(0, |step| step.started_at);
        let mut transcript = Self {
            evolution_id: evolution_id.to_owned(),
            origin,
            now: origin,
            ..Self::default()
        };
        for steps in steps.chunk_by(|a, b| a.view.iteration == b.view.iteration) {
            let number = steps[0].view.iteration;
            let tested = iterations.iter().find(|one| one.iteration == number);
            transcript.iteration(number, steps, tested);
        }
        transcript
    }

    /// The messages of the main conversations.
    pub fn messages(&self) -> Vec<&Message> {
        let ranges = self.main.iter().cloned();
        ranges.flat_map(|range| &self.pool[range]).collect()
    }

    /// Ends it with the score, or with the reason why there is none.
    pub fn end(&mut self, score: Option<&Score>, failure: Option<&Failure>) {
        if let Some(error) = failure.cloned() {
            self.push(self.now, Kind::Error { error });
        }
        if let Some(score) = score.cloned() {
            let scorer = SCORER;
            self.push(self.now, Kind::Score { score, scorer });
        }
    }

    fn iteration(&mut self, number: u32, steps: &[RecordedStep], tested: Option<&IterationView>) {
        self.begin(
            steps[0].started_at,
            "iteration",
            format!("iteration {number}"),
        );
        for step in steps {
            self.step(step);
        }
        if let Some(tested) = tested {
            self.info(self.now, json!({"iteration": tested}));
        }
        self.end_span();
    }

    fn step(&mut self, step: &RecordedStep) {
        let role = step.view.role.name();
        let name = match step.view.attempt {
            1 => role.to_owned(),
            attempt => format!("{role}, attempt {attempt}"),
        };
        self.begin(step.started_at, "agent", name);
        if let Some(main) = &step.trajectory {
            self.conversations(step, main);
        }
        self.now = self.now.max(step.finished_at);
        self.info(step.finished_at, json!({"step": step.view}));
        self.end_span();
    }

    fn conversations(&mut self, step: &RecordedStep, main: &Trajectory) {
        let begin = self.pool.len();
        self.conversation(step, main);
        self.main.push(begin..self.pool.len());
        for (number, other) in (2..).zip(&main.subagent_trajectories) {
            self.begin(
                step.started_at,
                "conversation",
                format!("conversation {number}"),
            );
            self.conversation(step, other);
            self.end_span();
        }
    }

    fn conversation(&mut self, step: &RecordedStep, of: &Trajectory) {
        let begin = self.pool.len();
        let tools: Vec<Tool> = of.agent.tool_definitions.iter().filter_map(tool).collect();
        for said in &of.steps {
            let model = said.model_name.as_ref().unwrap_or(&of.agent.model_name);
            match said.source {
                Source::System if said.message.is_empty() => {}
                Source::System => self.say(
                    step,
                    Said::System {
                        content: said.message.clone(),
                    },
                ),
                Source::User => self.say(
                    step,
                    Said::User {
                        content: said.message.clone(),
                    },
                ),
                Source::Agent => {
                    let input = Input::range(begin, self.pool.len());
                    self.say(step, answer(said, model));
                    if !said.is_copied_context {
                        self.model_call(step, said, model, input, &tools);
                    }
                }
            }
            for result in said.observation.iter().flat_map(|seen| &seen.results) {
                self.say(step, tool_result(said, result));
                if !said.is_copied_context {
                    self.tool_run(said, result);
                }
            }
        }
    }

    /// The event of the answer that is the last message so far.
    fn model_call(
        &mut self,
        step: &RecordedStep,
        said: &Step,
        model: &str,
        input: Input,
        tools: &[Tool],
    ) {
        let Some(message) = self.pool.last().cloned() else {
            return;
        };
        let (began, ended) = said.times.unwrap_or((self.now, self.now));
        let seconds = said.times.map(|_| seconds_between(began, ended));
        let cut_off = said.extra.complete == Some(false);
        let cut_off = cut_off.then(|| "the answer is incomplete".to_owned());
        let call = ModelCall {
            role: step.view.role.name(),
            input,
            tools: tools.to_vec(),
            tool_choice: "auto",
            config: Default::default(),
            output: Output {
                model: model.to_owned(),
                choices: [Choice {
                    message,
                    stop_reason: stop_reason(said),
                }],
                usage: said.metrics.as_ref().map(usage),
                time: seconds,
            },
            model: model.to_owned(),
            retries: Some(said.extra.retries).filter(|&retries| retries > 0),
            error: said.extra.error.clone().or(cut_off),
            completed: rfc3339(ended),
            working_time: seconds,
        };
        self.push(began, Kind::Model(Box::new(call)));
        self.now = self.now.max(ended);
    }

    /// The event of the call whose result is the last message so far. The log has no
    /// time of it: harnesses run tools between two requests.
    fn tool_run(&mut self, said: &Step, result: &ObservationResult) {
        let (Some(call), Some(message)) = (call_of(said, result), self.pool.last()) else {
            return;
        };
        let run = ToolRun {
            call: tool_call(call),
            kind: "function",
            result: result.content.clone(),
            error: call_error(result),
            message_id: message.id.clone(),
        };
        self.push(self.now, Kind::Tool(run));
    }

    fn say(&mut self, step: &RecordedStep, said: Said) {
        let of = &step.view;
        let metadata = [
            ("iteration", json!(of.iteration)),
            ("role", json!(of.role.name())),
            ("attempt", json!(of.attempt)),
        ];
        self.pool.push(Message {
            id: format!("{}/m{}", self.evolution_id, self.pool.len() + 1),
            said,
            metadata: metadata
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
        });
    }

    fn begin(&mut self, at: i64, span: &'static str, name: String) {
        let id = format!("{}/s{}", self.evolution_id, self.events.len() + 1);
        let parent_id = self.spans.last().cloned();
        self.spans.push(id.clone());
        self.push(
            at,
            Kind::SpanBegin {
                id,
                parent_id,
                span,
                name,
            },
        );
    }

    fn end_span(&mut self) {
        if let Some(id) = self.spans.last().cloned() {
            self.push(self.now, Kind::SpanEnd { id });
            self.spans.pop();
        }
    }

    fn info(&mut self, at: i64, data: Value) {
        self.push(
            at,
            Kind::Info {
                source: SOURCE,
                data,
            },
        );
    }

    fn push(&mut self, at: i64, kind: Kind) {
        let at = Stamp {
            uuid: format!("{}/e{}", self.evolution_id, self.events.len() + 1),
            span_id: self.spans.last().cloned(),
            timestamp: rfc3339(at),
            working_start: seconds_between(self.origin, at).max(0.0),
        };
        self.events.push(Event { at, kind });
    }
}

fn answer(said: &Step, model: &str) -> Said {
    let text = said.message.clone();
    let content = match said.reasoning_content.as_str() {
        "" => Content::Text(text),
        reasoning => {
            let reasoning = reasoning.to_owned();
            Content::Parts(vec![Part::Reasoning { reasoning }, Part::Text { text }])
        }
    };
    Said::Assistant {
        content,
        tool_calls: said.tool_calls.iter().map(tool_call).collect(),
        model: model.to_owned(),
        source: (!said.is_copied_context).then_some("generate"),
    }
}

fn tool_call(call: &atif::ToolCall) -> ToolCall {
    ToolCall {
        id: call.tool_call_id.clone(),
        function: call.function_name.clone(),
        arguments: call.arguments.clone(),
    }
}

/// The call of this step that came to the result.
fn call_of<'a>(step: &'a Step, result: &ObservationResult) -> Option<&'a atif::ToolCall> {
    let id = result.source_call_id.as_ref();
    let mut calls = step.tool_calls.iter();
    calls.find(|call| Some(&call.tool_call_id) == id)
}

fn tool_result(of: &Step, result: &ObservationResult) -> Said {
    let name = call_of(of, result).map(|call| call.function_name.clone());
    let id = result.source_call_id.as_ref();
    Said::Tool {
        content: result.content.clone(),
        tool_call_id: id.or(result.extra.call.as_ref()).cloned(),
        function: name.or_else(|| result.extra.name.clone()),
        error: call_error(result),
    }
}

fn call_error(result: &ObservationResult) -> Option<CallError> {
    result.extra.is_error.then(|| CallError {
        kind: "unknown",
        message: result.content.clone(),
    })
}

/// Some providers say "stop" where the answer ends with calls.
fn stop_reason(said: &Step) -> StopReason {
    match StopReason::from_provider(said.extra.finish_reason.as_deref()) {
        StopReason::Stop | StopReason::Unknown if !said.tool_calls.is_empty() => {
            StopReason::ToolCalls
        }
        reason => reason,
    }
}

fn usage(metrics: &atif::Metrics) -> ModelUsage {
    let usage = Usage {
        input_tokens: metrics.prompt_tokens,
        output_tokens: metrics.completion_tokens,
        cached_tokens: metrics.cached_tokens,
        reasoning_tokens: metrics.extra.reasoning_tokens,
    };
    ModelUsage::new(usage, metrics.cost_usd)
}

/// A tool in OpenAI's function format.
fn tool(definition: &Value) -> Option<Tool> {
    let name = definition["function"]["name"].as_str();
    let name = name.or(definition["name"].as_str())?.to_owned();
    Some(Tool {
        name,
        description: "",
    })
}
