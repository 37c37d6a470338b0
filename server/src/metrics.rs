//! The state of an installation in Prometheus' text format. All of it comes from
//! rows, so one address covers all workers; their own counters come with their
//! heartbeats.

use std::fmt::{Display, Write};

use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_engine::{Monitoring, StepsDone};
use swe_ci_views::workers::{AtHand, WorkerFigures, WorkerState, WorkerView};

struct Page(String);

impl Page {
    /// Begins a metric.
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String never fails.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
        let labels: Vec<String> = labels.iter().map(label).collect();
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

fn escaped(value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"");
    value.replace('\n', r"\n")
}

pub(crate) fn text(found: &Monitoring) -> String {
    let mut page = Page(String::new());
    let name = "swe_ci_build_info";
    page.metric(name, "gauge", "The version of the server.");
    page.value(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    queue(&mut page, found);
    workers(&mut page, found);
    each_worker(&mut page, &found.workers);
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
    page.single(
        "swe_ci_runs_without_worker",
        "gauge",
        "Runs with queued evolutions that need labels no working worker has.",
        found.without_worker,
    );
}

/// A number that each worker counts.
type Figure = fn(&WorkerFigures) -> f64;
/// A number of what its engine has.
type Held = fn(AtHand) -> u64;

/// What each worker counted since it began. Names are people's, and two workers
/// may have the same: ids tell them apart.
fn each_worker(page: &mut Page, workers: &[WorkerView]) {
    let counters: [(&str, &str, Figure); 5] = [
        (
            "swe_ci_worker_claims_total",
            "Evolutions that a worker claimed.",
            |of| of.claims as f64,
        ),
        (
            "swe_ci_worker_leases_lost_total",
            "Claims that a worker lost to others, or because it could not renew them.",
            |of| of.leases_lost as f64,
        ),
        (
            "swe_ci_image_pulls_total",
            "Images that a worker pulled from the registry.",
            |of| of.image_pulls as f64,
        ),
        (
            "swe_ci_image_pull_bytes_total",
            "Bytes of these pulls, as far as its container engine told.",
            |of| of.image_pull_bytes as f64,
        ),
        (
            "swe_ci_image_pull_seconds_total",
            "Duration of these pulls.",
            |of| of.image_pull_seconds,
        ),
    ];
    for (name, help, figure) in counters {
        page.metric(name, "counter", help);
        for worker in workers {
            let labels = [("worker", &*worker.name), ("id", &*worker.worker_id)];
            page.value(name, &labels, figure(&worker.figures));
        }
    }
    let at_hand: [(&str, &str, Held); 2] = [
        (
            "swe_ci_images",
            "Prepared images of tasks, and layers of harnesses, that a worker's container engine has.",
            |of| of.count.into(),
        ),
        ("swe_ci_image_bytes", "What they take on its disk.", |of| {
            of.bytes
        }),
    ];
    for (name, help, figure) in at_hand {
        page.metric(name, "gauge", help);
        for worker in workers {
            let WorkerFigures { images, layers, .. } = worker.figures;
            for (kind, held) in [("task", images), ("layer", layers)] {
                let labels = [
                    ("worker", &*worker.name),
                    ("id", &*worker.worker_id),
                    ("kind", kind),
                ];
                held.into_iter()
                    .for_each(|held| page.value(name, &labels, figure(held)));
            }
        }
    }
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

/// Also those of which there was none: a series that begins above 0 hides its first
/// step from `increase()`.
fn each_kind_of_step(
    found: &Monitoring,
    mut write: impl FnMut(&[(&str, &str)], Option<&StepsDone>),
) {
    for role in Role::ALL {
        for outcome in StepOutcome::ALL {
            let mut steps = found.steps.iter();
            let done = steps.find(|done| (done.role, done.outcome) == (role, outcome));
            write(&[("role", role.name()), ("outcome", outcome.name())], done);
        }
    }
}

fn steps(page: &mut Page, found: &Monitoring) {
    let name = "swe_ci_steps_total";
    page.metric(name, "counter", "Recorded steps.");
    each_kind_of_step(found, |labels, done| {
        page.value(name, labels, done.map_or(0, |done| done.steps));
    });
    let name = "swe_ci_step_seconds_total";
    page.metric(name, "counter", "Duration of the recorded steps.");
    each_kind_of_step(found, |labels, done| {
        page.value(name, labels, done.map_or(0.0, |done| done.seconds));
    });
    let sum = |of: fn(&StepsDone) -> u64| found.steps.iter().map(of).sum::<u64>();
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use swe_ci_engine::QueueState;

    use super::*;

    fn worker(id: &str, name: &str) -> WorkerView {
        WorkerView {
            worker_id: id.into(),
            name: name.into(),
            state: WorkerState::Working,
            version: "1".into(),
            slots: 2,
            labels: "gpu=yes".parse().unwrap(),
            started_at: String::new(),
            seen_at: String::new(),
            silent_seconds: 0.0,
            claims: Vec::new(),
            figures: WorkerFigures {
                claims: 7,
                leases_lost: 1,
                image_pulls: 3,
                image_pull_bytes: 1 << 40,
                image_pull_seconds: 12.5,
                images: Some(AtHand { count: 4, bytes: 9 }),
                layers: None,
            },
        }
    }

    fn page() -> String {
        text(&Monitoring {
            queue: QueueState::default(),
            without_worker: 2,
            workers: vec![worker("i/1", "no\"de\\7\n"), worker("i/2", "no\"de\\7\n")],
            steps: vec![StepsDone {
                role: Role::Architect,
                outcome: StepOutcome::Done,
                steps: 5,
                seconds: 1.5,
                requests: 6,
                retries: 1,
                waiting_seconds: 0.5,
                input_tokens: 1,
                output_tokens: 2,
                micro_usd: 3,
            }],
        })
    }

    /// The samples of a page, by name and labels; the page has to be what
    /// Prometheus reads.
    fn samples(page: &str) -> BTreeMap<String, f64> {
        let (mut samples, mut kinds) = (BTreeMap::new(), BTreeMap::new());
        let mut current = "";
        for line in page.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                current = help.split_once(' ').unwrap().0;
                continue;
            }
            if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert_eq!(name, current);
                assert!(kinds.insert(name, kind).is_none(), "{name} comes twice");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split_once('{').map_or(series, |(name, _)| name);
            assert_eq!(name, current, "a sample stands under its metric");
            let value: f64 = value.parse().unwrap();
            let before = samples.insert(series.to_owned(), value);
            assert!(before.is_none(), "{series} comes twice");
        }
        samples
    }

    #[test]
    fn prometheus_can_read_the_page() {
        let samples = samples(&page());
        let check = |series: &str, expect: f64| {
            let found = samples.get(series);
            assert_eq!(found, Some(&expect), "{series} in {samples:#?}");
        };
        let of = r#"worker="no\"de\\7\n",id="i/2""#;
        check(&format!("swe_ci_worker_claims_total{{{of}}}"), 7.0);
        check(&format!("swe_ci_worker_leases_lost_total{{{of}}}"), 1.0);
        check(&format!("swe_ci_image_pulls_total{{{of}}}"), 3.0);
        check(
            &format!("swe_ci_image_pull_bytes_total{{{of}}}"),
            f64::from(1 << 20) * f64::from(1 << 20),
        );
        check(&format!("swe_ci_image_pull_seconds_total{{{of}}}"), 12.5);
        check(&format!(r#"swe_ci_images{{{of},kind="task"}}"#), 4.0);
        check(&format!(r#"swe_ci_image_bytes{{{of},kind="task"}}"#), 9.0);
        let layers = samples.keys().filter(|series| series.contains("layer"));
        assert_eq!(layers.count(), 0, "an unknown number is not 0");
        check("swe_ci_runs_without_worker", 2.0);
        check(
            r#"swe_ci_steps_total{role="architect",outcome="done"}"#,
            5.0,
        );
        let none = r#"swe_ci_steps_total{role="test",outcome="infra_failed"}"#;
        check(none, 0.0);
    }

    /// Alerts and dashboard ask for metrics that exist, and the documentation
    /// lists all of them.
    #[test]
    fn every_metric_that_others_name_exists() {
        let page = page();
        let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let exist: BTreeSet<&str> = types.filter_map(|line| line.split(' ').next()).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let named = |file: &str| -> BTreeSet<String> {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            let other = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            let words = text.split(other).filter(|word| word.starts_with("swe_ci_"));
            words.map(str::to_owned).collect()
        };
        for file in [
            "deploy/prometheus/rules.yaml",
            "deploy/prometheus/rules_test.yaml",
            "deploy/grafana/dashboard.json",
        ] {
            let named = named(file);
            let unknown: Vec<_> = named
                .iter()
                .filter(|n| !exist.contains(n.as_str()))
                .collect();
            assert!(unknown.is_empty(), "{file} names {unknown:?}");
        }
        let listed = named("docs/operations.md");
        let missing: Vec<_> = exist
            .iter()
            .filter(|name| !listed.contains(**name))
            .collect();
        assert!(missing.is_empty(), "docs/operations.md lacks {missing:?}");
    }
}
