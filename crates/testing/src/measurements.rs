//! The figures of benchmarks: a line for readers, and a line of JSON for the
//! table of `make bench`.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::json;

/// The environment variable with the path of the file that gets the JSON.
const OUTPUT: &str = "SWE_CI_BENCH_OUTPUT";

/// Reports a time, a size or another cost. The name begins with that of the
/// benchmark and is the key in `docs/bench/baseline.jsonl`.
pub fn lower_is_better(name: &str, value: f64, unit: &str) {
    report(name, value, unit, true);
}

/// Reports a rate. The name is as of [`lower_is_better`].
pub fn higher_is_better(name: &str, value: f64, unit: &str) {
    report(name, value, unit, false);
}

#[allow(
    clippy::disallowed_methods,
    reason = "a benchmark has no other configuration"
)]
fn report(name: &str, value: f64, unit: &str, lower_is_better: bool) {
    println!("{name}: {value:.3} {unit}");
    let Some(path) = std::env::var_os(OUTPUT) else {
        return;
    };
    let figure =
        json!({ "name": name, "value": value, "unit": unit, "lower_is_better": lower_is_better });
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| writeln!(file, "{figure}"))
        .expect("the figure is written");
}

/// The median; of an even number the upper one. 0 without values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
