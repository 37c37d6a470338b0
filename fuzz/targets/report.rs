//! Fuzzes the parser of test reports: the counts must agree with the tests, and an
//! accepted report must round-trip through its plain form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use swe_ci_core::test_gap::{files, non_passed};
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Report;

fuzz_target!(|bytes: &[u8]| {
    let Ok(report) = Report::parse(bytes) else {
        return;
    };
    let list = TestList::of_target(&report);
    assert_eq!(list.len(), report.passed());
    assert_eq!(Outcomes::of(&list, &report).passed(), report.passed());
    assert!(non_passed(list.node_ids(), Some(&report)).is_empty());
    assert_eq!(
        files(&non_passed(list.node_ids(), None)).len(),
        list.node_ids().len() + 1
    );
    let again = Report::parse(plain(&report).as_bytes()).expect("a plain report must parse");
    assert_eq!(
        (again.exit_code, &again.tests),
        (report.exit_code, &report.tests)
    );
});

fn plain(report: &Report) -> String {
    let tests = report.tests.iter().map(|(id, test)| {
        let call = json!({"longrepr": test.message});
        json!({"nodeid": id, "outcome": test.outcome.name(), "call": call})
    });
    json!({
        "exitcode": report.exit_code,
        "summary": {"passed": report.passed()},
        "tests": tests.collect::<Value>(),
    })
    .to_string()
}
