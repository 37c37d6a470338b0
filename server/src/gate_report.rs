//! A gate's report as JUnit XML, which pipelines show beside their tests.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use swe_ci_core::uncertainty::BoundDecision;
use swe_ci_views::leaderboard::{GateBound, GateDecision, GateReport};

/// A suite with a test for each bound; one that says why while there is none. An
/// open bound is an error and no failure: it says nothing about the candidate.
///
/// # Errors
/// When a text cannot be written as XML.
pub(crate) fn junit(report: &GateReport) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!(
        "{} against {}",
        report.candidate.model, report.baseline.model
    ));
    suite.add_test_cases(report.bounds.iter().map(|bound| case(bound, report)));
    if report.bounds.is_empty() {
        suite.add_test_case(named(
            "gate",
            report,
            failed(NonSuccessKind::Error, &report.reason),
        ));
    }
    let mut junit = Report::new("swe-ci gate");
    junit.add_test_suite(suite);
    junit.to_string()
}

fn case(bound: &GateBound, report: &GateReport) -> TestCase {
    use BoundDecision::{Broken, Kept, Open};
    // A run whose results take no rank passes no bound, whatever its numbers.
    let status = match (bound.test.decision, report.decision) {
        (_, GateDecision::Open) => failed(NonSuccessKind::Error, &report.reason),
        (Kept, _) => TestCaseStatus::success(),
        (Broken, _) => failed(NonSuccessKind::Failure, &numbers("is below", bound)),
        (Open, _) => failed(NonSuccessKind::Error, &numbers("may be below", bound)),
    };
    named(&bound.metric, report, status)
}

fn named(name: &str, report: &GateReport, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("swe-ci.gate");
    case.set_system_out(report.markdown());
    case
}

fn failed(kind: NonSuccessKind, why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(why);
    status
}

fn numbers(is: &str, bound: &GateBound) -> String {
    let (noun, test) = (bound.noun(), &bound.test);
    let (difference, least) = (test.difference, test.bound);
    format!("The difference in {noun}, {difference:+.3}, {is} the bound, {least:+.3}.")
}

#[cfg(test)]
mod tests {
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::run::Progress;
    use swe_ci_views::leaderboard::GateRules;
    use swe_ci_views::testing::{leaderboard, spread_run};

    use super::*;

    fn xml(scores: [f64; 2], n: usize) -> String {
        let run = |model: &str, score: f64| {
            let changes = vec![score];
            spread_run(model, &vec![changes.as_slice(); n])
        };
        let data = leaderboard(vec![run("old", scores[0]), run("new", scores[1])]);
        let rules = GateRules::default();
        let report = data.gate("run-old", "run-new", rules, Gamma::ONE, Convention::Paper);
        junit(&report.unwrap()).unwrap()
    }

    #[test]
    fn decisions_are_success_failure_and_error() {
        let check = |scores: [f64; 2], n: usize, failures: u32, errors: u32| {
            let xml = xml(scores, n);
            let counts = format!("skipped=\"0\" failures=\"{failures}\" errors=\"{errors}\"");
            assert!(xml.contains(&counts), "{xml}");
            assert!(xml.contains("name=\"evoscore\""), "{xml}");
        };
        check([0.3, 0.3], 8, 0, 0);
        check([0.3, 0.1], 8, 1, 0);
        check([0.3, 0.1], 3, 0, 1);
        let broken = xml([0.3, 0.1], 8);
        let says = "The difference in EvoScore, -0.200, is below the bound, -0.020.";
        assert!(broken.contains(says), "{broken}");
    }

    #[test]
    fn a_gate_without_a_bound_is_no_success() {
        let mut new = spread_run("new", &[]);
        new.progress = Progress::Running;
        let data = leaderboard(vec![spread_run("old", &[&[0.3]]), new]);
        let rules = GateRules::default();
        let report = data.gate("run-old", "run-new", rules, Gamma::ONE, Convention::Paper);
        let xml = junit(&report.unwrap()).unwrap();
        assert!(xml.contains("tests=\"1\""), "{xml}");
        assert!(
            xml.contains("errors=\"1\"") && xml.contains("Not both runs are over"),
            "{xml}"
        );
    }
}
