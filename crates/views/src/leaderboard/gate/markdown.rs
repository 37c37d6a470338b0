//! A gate's report as Markdown, for the summary of a pipeline.

use std::fmt::Write;

use swe_ci_core::format;
use swe_ci_core::uncertainty::BoundDecision;

use super::{GateBound, GateDecision, GateReport, GateRun};

impl GateReport {
    /// A heading, the reason, the runs, a table of the bounds, and the tasks that
    /// lost most.
    pub fn markdown(&self) -> String {
        let heading = match self.decision {
            GateDecision::Pass => "passed",
            GateDecision::Fail => "failed",
            GateDecision::Open => "cannot tell",
        };
        let mut text = format!("## SWE-CI gate: {heading}\n\n{}\n\n", self.reason);
        let _ = writeln!(text, "- Candidate: {}", named(&self.candidate));
        let _ = writeln!(text, "- Baseline: {}", named(&self.baseline));
        let repositories = match self.repositories {
            1 => "1 repository".to_owned(),
            n => format!("{n} repositories"),
        };
        let (split, total) = (
            escaped(&self.split),
            format::count(self.tasks_total, "task"),
        );
        let _ = writeln!(
            text,
            "- Split {split}: {} of {total} shared, of {repositories}",
            self.tasks
        );
        if !self.bounds.is_empty() {
            text += "\n| Candidate minus baseline | Difference | Interval | Bound | |\n|---|---:|---|---:|---|\n";
        }
        for bound in &self.bounds {
            text += &row(bound);
        }
        if !self.worst.is_empty() {
            text += "\nTasks on which the candidate lost most, in EvoScore:\n\n";
        }
        for task in &self.worst {
            let id = escaped(task.task_id.as_str());
            let _ = writeln!(text, "- {id}: {:+.3}", task.difference);
        }
        text
    }
}

fn row(bound: &GateBound) -> String {
    let test = &bound.test;
    let interval = test.interval.map_or_else(
        || "none".to_owned(),
        |i| {
            let confidence = 100.0 * (1.0 - test.alpha);
            format!(
                "{:+.3} to {:+.3} ({} %)",
                i.low,
                i.high,
                format::decimals(confidence, 1)
            )
        },
    );
    let decision = match test.decision {
        BoundDecision::Kept => "kept",
        BoundDecision::Broken => "broken",
        BoundDecision::Open => "open",
    };
    let name = match bound.metric.as_str() {
        "evoscore" => "EvoScore",
        _ => "Zero-regression rate",
    };
    format!(
        "| {name} | {:+.3} | {interval} | {:+.3} | {decision} |\n",
        test.difference, test.bound
    )
}

fn named(run: &GateRun) -> String {
    let model = escaped(&run.model);
    let harness = escaped(&run.harness);
    let version = escaped(&run.harness_version);
    format!("{model} with {harness} {version}, run `{}`", run.run_id)
}

/// Names come from whoever submits runs: they are text here, no markup.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => safe.push(' '),
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '!' | '#' | '>' | '@' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use swe_ci_core::metrics::{Convention, Gamma};

    use crate::leaderboard::GateRules;
    use crate::testing::{entry, leaderboard};

    #[test]
    fn a_report_is_read_in_a_pipeline() {
        let data = leaderboard(vec![
            entry("old|<b>", &[("p", &[&[0.5]]), ("q", &[&[0.25]])]),
            entry("new", &[("p", &[&[0.25]]), ("q", &[&[0.5]])]),
        ]);
        let rules = GateRules::default();
        let report = data.gate(
            "run-old|<b>",
            "run-new",
            rules,
            Gamma::ONE,
            Convention::Paper,
        );
        let text = report.unwrap().markdown();
        let expect = "\
## SWE-CI gate: cannot tell

The shared tasks are of 2 repositories; at this error rate no test can tell about EvoScore from fewer than 6.

- Candidate: new with replay 1, run `run-new`
- Baseline: old\\|&lt;b\\> with replay 1, run `run-old|<b>`
";
        assert!(text.starts_with(expect), "{text}");
        let row = "| EvoScore | +0.000 | none | -0.020 | open |";
        assert!(text.contains(row), "{text}");
        assert!(text.ends_with("- task-0: -0.250\n"), "{text}");
    }
}
