//! The state of an installation in Prometheus' text format. All of it comes from
//! rows, so one address covers all workers.

use std::fmt::{Display, Write};

use swe_ci_engine::Monitoring;
use swe_ci_views::workers::WorkerState;

struct Page(String);

impl Page {
    /// Begins a metric.
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String never fails.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A value; labels hold names of this program, which need no escape.
    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k}=\"{v}\"")).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// A metric with one value.
    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.metric(name, kind, help);
        self.value(name, &[], value);
    }
}

pub(crate) fn text(found: &Monitoring) -> String {
    let mut page = Page(String::new());
    let name = "swe_ci_build_info";
    page.metric(name, "gauge", "The version of the server.");
    page.value(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    queue(&mut page, found);
    workers(&mut page, found);
    steps(&mut page, found);
    page.0
}

fn queue(page: &mut Page, found: &Monitoring) {
    let name = "swe_ci_evolutions";
    page.metric(
        name,
        "gauge",
        "Evolutions that are not over, and blocked ones.",
    );
    let states = [
        ("queued", found.queue.queued),
        ("running", found.queue.running),
        ("blocked", found.queue.blocked),
    ];
    for (state, count) in states {
        page.value(name, &[("state", state)], count);
    }
    page.single(
        "swe_ci_queue_oldest_seconds",
        "gauge",
        "How long the longest of the queued evolutions has waited.",
        found.queue.oldest_seconds,
    );
}

fn workers(page: &mut Page, found: &Monitoring) {
    let name = "swe_ci_workers";
    page.metric(name, "gauge", "Processes that execute evolutions.");
    for state in WorkerState::ALL {
        let of_state = found.workers.iter().filter(|w| w.state == state);
        page.value(name, &[("state", state.name())], of_state.count());
    }
    let name = "swe_ci_slots";
    page.metric(
        name,
        "gauge",
        "Evolutions that the working workers can run at once.",
    );
    let working = found
        .workers
        .iter()
        .filter(|w| w.state == WorkerState::Working);
    let (busy, all) = working.fold((0, 0), |(busy, all), worker| {
        (busy + worker.claims.len(), all + worker.slots as usize)
    });
    page.value(name, &[("state", "busy")], busy);
    page.value(name, &[("state", "free")], all.saturating_sub(busy));
}

fn steps(page: &mut Page, found: &Monitoring) {
    let name = "swe_ci_steps_total";
    page.metric(name, "counter", "Recorded steps.");
    for done in &found.steps {
        let labels = [("role", done.role.name()), ("outcome", done.outcome.name())];
        page.value(name, &labels, done.steps);
    }
    let name = "swe_ci_step_seconds_total";
    page.metric(name, "counter", "Duration of the recorded steps.");
    for done in &found.steps {
        let labels = [("role", done.role.name()), ("outcome", done.outcome.name())];
        page.value(name, &labels, done.seconds);
    }
    let sum = |of: fn(&swe_ci_engine::StepsDone) -> u64| found.steps.iter().map(of).sum::<u64>();
    let name = "swe_ci_tokens_total";
    page.metric(name, "counter", "Tokens of the recorded steps.");
    page.value(name, &[("kind", "input")], sum(|done| done.input_tokens));
    page.value(name, &[("kind", "output")], sum(|done| done.output_tokens));
    let totals = [
        (
            "swe_ci_provider_requests_total",
            "Requests to providers.",
            sum(|done| done.requests),
        ),
        (
            "swe_ci_provider_retries_total",
            "Requests sent again.",
            sum(|done| done.retries),
        ),
    ];
    for (name, help, value) in totals {
        page.single(name, "counter", help, value);
    }
    let waited: f64 = found.steps.iter().map(|done| done.waiting_seconds).sum();
    let help = "Time that steps waited for providers.";
    page.single(
        "swe_ci_provider_wait_seconds_total",
        "counter",
        help,
        waited,
    );
    let usd = sum(|done| done.micro_usd) as f64 / 1e6;
    let help = "Cost of the recorded steps with known prices.";
    page.single("swe_ci_cost_usd_total", "counter", help, usd);
}
