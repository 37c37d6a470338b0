//! Writes the reproducibility card as plain text.

use std::fmt::Write;

use swe_ci_core::agent::Budget;
use swe_ci_core::run::{Kind, Limits};
use swe_ci_core::step::Plan;
use swe_ci_core::text::visible;
use swe_ci_core::usage::Prices;

use super::{AgentOnCard, Card, TaskOnCard};

impl Card {
    /// The card as text, one fact per line, for a paper's appendix.
    pub fn to_text(&self) -> String {
        let mut text = CardText::default();
        text.run(self);
        for agent in &self.agents {
            text.agent(agent);
        }
        text.settings(self);
        text.tasks(&self.tasks);
        text.0
    }
}

#[derive(Default)]
struct CardText(String);

impl CardText {
    /// Adds a line with a fact; omits an unknown (empty) one.
    fn fact(&mut self, name: &str, value: impl AsRef<str>) {
        let value = value.as_ref();
        if !value.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(self.0, "{name:<19}{}", visible(value));
        }
    }

    fn run(&mut self, card: &Card) {
        let provider = match card.provider.as_str() {
            "" => String::new(),
            provider => format!(" ({provider})"),
        };
        self.fact("SWE-CI run", &card.run_id);
        self.fact("Model", format!("{}{provider}", card.model));
        self.fact("Released", card.release_date.as_deref().unwrap_or_default());
        let cutoff = card.training_cutoff.as_deref().unwrap_or_default();
        self.fact("Training data to", cutoff);
        self.fact("Kind", card.kind.name());
        if let Some(handover) = &card.handover {
            let at = match handover.iteration {
                Some(iteration) => format!("iteration {iteration}"),
                None => "its last scored iteration".to_owned(),
            };
            let towards = handover.target.in_words();
            let fact = format!("run {} after {at}, towards {towards}", handover.run);
            self.fact("Goes on with", fact);
        }
        if let Some(from) = &card.imported {
            let files = format!("{} layout, {}", from.layout, from.experiment);
            self.fact("Imported from", files);
            self.fact("Files", &from.digest);
        }
    }

    fn agent(&mut self, agent: &AgentOnCard) {
        let roles: Vec<&str> = agent.roles.iter().map(|role| role.name()).collect();
        self.fact("Agent", roles.join(" and "));
        let harness = format!("{} {}", agent.harness, agent.harness_version);
        self.fact("  harness", harness.trim_end());
        let Some(endpoint) = &agent.endpoint else {
            return;
        };
        match &endpoint.recording {
            Some(run) => self.fact("  answers", format!("replayed from run {run}")),
            None => {
                let address = format!("{} by {}", endpoint.host, endpoint.protocol);
                self.fact("  endpoint", address);
            }
        }
        self.fact("  model", &endpoint.model);
        if !endpoint.parameters.is_empty() {
            let parameters = serde_json::to_string(&endpoint.parameters);
            self.fact("  parameters", parameters.unwrap_or_default());
        }
        if let Some(Prices {
            input,
            cached,
            output,
        }) = endpoint.prices
        {
            let cached = cached.map_or_else(String::new, |usd| format!("{usd} cached, "));
            let prices = format!("{input} in, {cached}{output} out, USD per million tokens");
            self.fact("  prices", prices);
        }
    }

    fn settings(&mut self, card: &Card) {
        self.fact("Harness images", card.layers.join(" "));
        self.fact("Prompts", card.prompts.as_deref().unwrap_or_default());
        self.fact("Mode", card.mode.name());
        self.fact("Arm", card.arm.as_deref().unwrap_or_default());
        let files: Vec<String> = card
            .agent_files
            .iter()
            .map(|(path, text)| format!("{path} ({} bytes)", text.len()))
            .collect();
        self.fact("Agents' files", files.join(", "));
        self.fact("Plan", plan(card));
        self.fact("Step limits", card.limits.map(limits).unwrap_or_default());
        self.fact("Budget", budget(&card.budget));
        self.fact("Workers with", card.needs.to_string());
        if card.allow_hosted_tools {
            self.fact("Hosted tools", "allowed; not ranked");
        }
        let metrics = format!("version {}", card.metric_version);
        self.fact("Metric definitions", metrics);
        let intervals = format!(
            "{} resamples of repositories, seed {}",
            card.resamples, card.resampling_seed
        );
        self.fact("Intervals", intervals);
        self.fact("Platform", format!("swe-ci {}", card.platform_version));
        self.dates(card);
        self.fact("Split", &card.split);
        self.fact("Dataset digest", &card.dataset_digest);
    }

    /// Imported results have only the date of their import.
    fn dates(&mut self, card: &Card) {
        if card.kind == Kind::Imported {
            return self.fact("Imported", &card.submitted_at);
        }
        self.fact("Submitted", &card.submitted_at);
        self.fact("Started", card.started_at.as_deref().unwrap_or_default());
        self.fact("Finished", card.finished_at.as_deref().unwrap_or_default());
    }

    fn tasks(&mut self, tasks: &[TaskOnCard]) {
        self.fact("Tasks", tasks.len().to_string());
        for task in tasks {
            let image = task.image.as_deref().unwrap_or("not known");
            let _ = writeln!(
                self.0,
                "  {}\n    base {} target {}\n    image {image}",
                task.task_id, task.base_sha, task.target_sha
            );
        }
    }
}

fn plan(card: &Card) -> String {
    let Plan {
        max_iterations,
        max_attempts,
    } = card.plan;
    let samples = card.samples;
    match card.kind {
        Kind::Imported => {
            format!("at most {max_iterations} iterations, samples per task {samples}")
        }
        Kind::Human | Kind::Measured => format!(
            "at most {max_iterations} iterations, {max_attempts} attempts per step, samples per task {samples}"
        ),
    }
}

fn limits(limits: Limits) -> String {
    let audit = limits.audit_seconds;
    let audit = audit.map_or_else(String::new, |seconds| format!(", {seconds} s per audit"));
    format!(
        "{} CPU, {} MiB memory, {} MiB disk, {} processes, {} s per agent step, {} s per test run, {} s of waiting for the provider{audit}",
        f64::from(limits.cpus_milli) / 1_000.0,
        limits.memory_mb,
        limits.disk_mb,
        limits.pids,
        limits.agent_seconds,
        limits.test_seconds,
        limits.patience_seconds
    )
}

fn budget(budget: &Budget) -> String {
    let parts = [
        budget.tokens.map(|n| format!("{n} tokens")),
        budget.usd.map(|usd| format!("{usd} USD")),
        budget.requests.map(|n| format!("{n} requests")),
        budget.seconds.map(|n| format!("{n} s")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.as_slice() {
        [] => "none set".to_owned(),
        parts => parts.join(", "),
    }
}
