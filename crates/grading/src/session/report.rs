//! The report of a session, as pytest-json-report writes it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use swe_ci_core::report::Report;

use super::Test;

type Tests = BTreeMap<String, Test>;

/// The report and its bytes, or why there is none.
pub(super) fn report_of(tests: &Tests, seconds: f64) -> Result<(Report, Vec<u8>), String> {
    if tests.is_empty() {
        return Err(did_not_run(5));
    }
    let failed = tests.values().any(Test::failed);
    let raw = json!({
        "exitcode": i32::from(failed),
        "duration": seconds,
        "summary": summary(tests),
        "tests": tests.iter().map(|(id, test)| to_json(id, test)).collect::<Vec<_>>(),
    });
    let raw = raw.to_string().into_bytes();
    let report = Report::parse(&raw).map_err(|error| error.to_string())?;
    Ok((report, raw))
}

fn summary(tests: &Tests) -> BTreeMap<&str, usize> {
    let mut summary = BTreeMap::from([("total", tests.len())]);
    for test in tests.values() {
        *summary.entry(test.outcome()).or_default() += 1;
    }
    summary
}

/// A test as pytest-json-report has it.
fn to_json(id: &str, test: &Test) -> Value {
    let mut fields = json!({"nodeid": id, "outcome": test.outcome()});
    for stage in &test.stages {
        let mut told = json!({"duration": stage.seconds, "outcome": stage.outcome});
        if !stage.text.is_empty() {
            told["longrepr"] = Value::from(stage.text.as_str());
        }
        fields[stage.when.as_str()] = told;
    }
    fields
}

/// For an exit code without a result.
pub(super) fn did_not_run(code: i64) -> String {
    let meaning = match code {
        2 => "interrupted, most often because test files could not be imported",
        3 => "an internal error",
        4 => "a usage error",
        5 => "no tests were found",
        126 | 127 => "python or pytest is not in the image",
        137 => "killed, most often because memory ran out",
        _ => "it did not run to its end",
    };
    format!("pytest ended with exit code {code}: {meaning}")
}
