//! An evolution as a sample.

use serde_json::{Map, Value, json};
use swe_ci_base::clock::seconds_between;
use swe_ci_core::step::Ending;
use swe_ci_views::leaderboard::EvolutionScore;
use swe_ci_views::view::EvolutionView;

use super::RecordedStep;
use super::format::{
    EventsData, Failure, ModelUsage, Sample, SampleText, Score, Summary, Usages, object,
};
use super::numbers::value;
use super::run::RunFacts;
use super::transcript::{SCORER, Transcript};

/// All of a sample. It is written at once: the sample borrows from it.
#[derive(Debug)]
pub struct Evolved {
    text: SampleText,
    metadata: Map<String, Value>,
    failure: Option<Failure>,
    transcript: Transcript,
}

impl Evolved {
    pub fn new(facts: &RunFacts, view: &EvolutionView, steps: &[RecordedStep]) -> Self {
        let failure = failure(view);
        let score = score(facts, view);
        let mut transcript = Transcript::new(&view.evolution_id, steps, &view.iterations);
        transcript.end(score.as_ref(), failure.as_ref());
        Self {
            text: text(facts, view, steps, score),
            metadata: metadata(facts, view),
            failure,
            transcript,
        }
    }

    /// The file of its sample. Names of tasks hold no slash.
    pub fn file(&self) -> String {
        format!("samples/{}_epoch_{}.json", self.text.id, self.text.epoch)
    }

    pub fn usages(&self) -> &Usages {
        &self.text.usages
    }

    pub fn sample(&self) -> Sample<'_> {
        let pool = &self.transcript.pool;
        Sample {
            text: &self.text,
            metadata: &self.metadata,
            messages: self.transcript.messages(),
            events: &self.transcript.events,
            events_data: (!pool.is_empty()).then_some(EventsData {
                messages: pool,
                calls: [],
            }),
            error: self.failure.as_ref(),
        }
    }

    /// Without the history, which can be long.
    pub fn summary(self) -> Summary {
        let mut metadata = self.metadata;
        metadata.remove("history");
        Summary {
            message_count: self.transcript.messages().len(),
            text: self.text,
            metadata,
            error: self.failure.map(|failure| failure.message),
            completed: true,
        }
    }
}

fn score(facts: &RunFacts, view: &EvolutionView) -> Option<Score> {
    let (gamma, convention) = (facts.scores.gamma, facts.scores.convention);
    let score = EvolutionScore::of(view, gamma, convention)?;
    let ending = view.ending.map_or("", Ending::name);
    Some(Score {
        value: value(&score),
        explanation: format!(
            "{ending}: {} of {} target tests pass after {} of {} iterations",
            view.passing(),
            view.suite.target,
            score.turns,
            view.max_iterations
        ),
        metadata: object([
            ("convention", json!(convention)),
            ("gamma", json!(gamma)),
            // Inspect Scout lists it: it makes no yes or no of a score with many fields.
            ("success", json!(score.solved)),
        ]),
    })
}

/// Why it has no score: nothing that the model did.
fn failure(view: &EvolutionView) -> Option<Failure> {
    let name = match view.ending {
        Some(ending) if ending.is_scored() => return None,
        Some(ending) => ending.name(),
        None => view.progress.name(),
    };
    let reason = view.reason.as_ref().map(|reason| format!(": {reason}"));
    Some(Failure::new(format!(
        "{name}{}",
        reason.unwrap_or_default()
    )))
}

fn text(
    facts: &RunFacts,
    view: &EvolutionView,
    steps: &[RecordedStep],
    score: Option<Score>,
) -> SampleText {
    let task = facts.task(&view.task_id);
    let target = task.map(|task| task.target_sha.clone()).unwrap_or_default();
    let first = steps.first().map(|step| step.started_at);
    let last = steps.iter().map(|step| step.finished_at).max();
    SampleText {
        id: view.task_id.to_string(),
        epoch: view.sample,
        uuid: view.evolution_id.clone(),
        input: input(facts, view),
        target,
        scores: score.map(|score| (SCORER, score)).into_iter().collect(),
        usages: usages(facts, steps),
        started_at: view.started_at.clone(),
        completed_at: view.finished_at.clone(),
        total_time: first.zip(last).map(|(from, to)| seconds_between(from, to)),
        working_time: first.map(|_| steps.iter().map(working_seconds).sum()),
    }
}

fn working_seconds(step: &RecordedStep) -> f64 {
    let waiting = step.view.traffic.map_or(0, |traffic| traffic.waiting_ms);
    let waited = f64::from(u32::try_from(waiting).unwrap_or(u32::MAX)) / 1_000.0;
    (step.view.seconds - waited).max(0.0)
}

/// As the task of the Python package words it.
fn input(facts: &RunFacts, view: &EvolutionView) -> String {
    let task = facts.task(&view.task_id);
    let (base, target) = task.map_or(("?", "?"), |task| (&task.base_sha, &task.target_sha));
    format!(
        "Maintain {} from commit {base} to {target}: {} of the target's {} tests do not pass yet.",
        facts.repo(&view.task_id),
        view.suite.gap(),
        view.suite.target
    )
}

fn usages(facts: &RunFacts, steps: &[RecordedStep]) -> Usages {
    let mut usages = Usages::default();
    for step in steps {
        if let Some(usage) = step.view.usage {
            let micro_usd = step.view.traffic.and_then(|traffic| traffic.micro_usd);
            let usage = ModelUsage::new(usage, micro_usd.map(|micro| micro as f64 / 1e6));
            let role = step.view.role;
            usages.add(&facts.model(role), role.name(), usage);
        }
    }
    usages
}

fn metadata(facts: &RunFacts, view: &EvolutionView) -> Map<String, Value> {
    let task = facts.task(&view.task_id);
    object([
        ("run_id", json!(facts.run.summary.run_id)),
        ("evolution_id", json!(view.evolution_id)),
        ("repo", json!(facts.repo(&view.task_id))),
        ("base_commit", json!(task.map(|task| &task.base_sha))),
        ("target_commit", json!(task.map(|task| &task.target_sha))),
        ("base_passed", json!(view.suite.base_in_target)),
        ("target_passed", json!(view.suite.target)),
        ("gap", json!(view.suite.gap())),
        ("ending", json!(view.ending)),
        ("reason", json!(view.reason)),
        ("iterations", json!(view.iterations.len())),
        ("max_iterations", json!(view.max_iterations)),
        ("start", json!(view.start)),
        ("history", json!(view.iterations)),
    ])
}
