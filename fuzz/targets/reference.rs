//! Fuzzes the parser of `iteration.jsonl`: an accepted record must round-trip
//! through its plain form, and its scores must lie between -1 and 1.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use swe_ci_core::metrics::{Convention, Gamma, Series, Weights};
use swe_ci_core::results::reference::parse;
use swe_ci_core::results::{MAX_ITERATIONS, MAX_TESTS, Record, Recorded};
use swe_ci_core::usage::Usage;

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = parse(bytes) else { return };
    assert!(record.base_passed <= MAX_TESTS && record.gap <= MAX_TESTS);
    assert!(record.iterations.len() <= MAX_ITERATIONS as usize);
    let again = parse(plain(&record).as_bytes()).expect("plain lines must parse");
    assert_eq!(again, record);
    for gamma in [0.1, 1.0, 10.0] {
        scored(&record, Gamma::new(gamma).expect("within range"));
    }
});

fn scored(record: &Record, gamma: Gamma) {
    let count = |convention| {
        Series::count(
            convention,
            record.suite(),
            MAX_ITERATIONS,
            &record.verdicts(),
        )
    };
    assert_eq!(count(Convention::Paper), None, "a record has only counts");
    let series = count(Convention::Reference).expect("counts suffice");
    let score = Weights::new(gamma, MAX_ITERATIONS).evoscore(series.changes());
    for value in series.changes().iter().copied().chain([score]) {
        // Rounding of the weights may move a weighted mean slightly outside.
        assert!(value.abs() <= 1.0 + 1e-9, "{value} of {record:?}");
    }
    for regression in series.regressions() {
        let magnitude = regression.magnitude();
        assert!(
            magnitude > 0.0 && magnitude <= 1.0,
            "{magnitude} of {record:?}"
        );
    }
}

fn plain(record: &Record) -> String {
    let base = json!({"gap": record.gap, "pytest": {"passed": record.base_passed}});
    let lines = [base].into_iter().chain(record.iterations.iter().map(line));
    lines.map(|line| format!("{line}\n")).collect()
}

fn line(iteration: &Recorded) -> Value {
    let mut line = match iteration.passed {
        None => json!({"gap": -1, "pytest": {}}),
        Some(n) => json!({"gap": u8::from(!iteration.solved), "pytest": {"passed": n}}),
    };
    let agents = [
        ("architect", iteration.architect),
        ("programmer", iteration.programmer),
    ];
    for (agent, usage) in agents {
        line[agent] = usage.map_or(Value::Object(Map::new()), tokens);
    }
    line
}

fn tokens(usage: Usage) -> Value {
    json!({"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens})
}
