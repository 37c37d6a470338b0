//! The tests of code that was handed over towards a later target: no earlier run
//! has tested it with that target's tests, and the evolution counts from there.

use std::sync::Arc;

use swe_ci_base::code::CodeTree;
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::step::Role;
use swe_ci_store::{MeasuredStart, Suite};

use super::Evolution;
use super::failure::Failure;
use super::log::Log;

/// Of code that collapses: none of its tests has an outcome.
const NO_TESTS: &[u8] = br#"{"duration": 0, "exitcode": 5, "summary": {"passed": 0}, "tests": []}"#;

impl Evolution<'_> {
    /// Tests the start, and records its suite. A process that dies meanwhile
    /// leaves nothing: the next one begins again.
    #[tracing::instrument(name = "test the start", level = "debug", skip_all)]
    pub(super) async fn measure_start(&mut self, log: &mut Log<'_>) -> Result<(), Failure> {
        let is_test = |path: &str| self.task.test_command.is_test(path);
        let code = Arc::new(CodeTree::clone(&self.start).with_files_of(is_test, &self.oracle));
        let layer = |role| self.agents.layer(role);
        let opened = self.containers.open(Role::Test, false, layer).await;
        let container = opened.map_err(anyhow::Error::new)?;
        let grading = self.grading(code.clone()).await?;
        let graded = Box::pin(container.grade(&grading, &mut |line| log.line(line))).await;
        // Whatever is wrong with this code, the agents of this run did not do it.
        let graded = graded.map_err(anyhow::Error::new)?;
        let tests = self.task.suite.tests.clone();
        let (base_outcomes, base_passed, report) = match graded.result {
            Ok(report) => {
                let outcomes = Outcomes::of(&tests, &report);
                (outcomes, report.passed(), graded.raw)
            }
            Err(_) => (Outcomes::none(&tests), 0, None),
        };
        let evolver = self.evolver;
        let key = format!(
            "evolutions/{}/start/{}-report.json",
            self.claim.evolution_id, self.claim.number
        );
        let report = report.unwrap_or_else(|| NO_TESTS.to_vec());
        let measured = MeasuredStart {
            suite: Suite {
                counts: SuiteCounts {
                    base_in_target: base_outcomes.passed(),
                    target: tests.len(),
                    base_passed,
                    counts_only: false,
                },
                base_outcomes,
                tests,
            },
            report: Some(evolver.artifacts.put(&key, report).await?),
        };
        let stored = evolver.artifacts.put_code(&code).await?;
        let recorded = evolver
            .store
            .record_start(self.claim, &stored, &measured)
            .await;
        recorded.map_err(anyhow::Error::new)?;
        self.task.suite = measured.suite;
        self.task.base_report = measured.report;
        self.start = code;
        self.start_measured = true;
        // Those of the base were known until now.
        self.known_tests = None;
        Ok(())
    }
}
