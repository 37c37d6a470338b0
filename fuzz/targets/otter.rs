//! Fuzzes the parsers of `meta.json` and `conclusion.json` with the same bytes:
//! an accepted record must round-trip through its plain form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use swe_ci_core::results::MAX_TESTS;
use swe_ci_core::results::otter::{conclusion, meta};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(record) = meta(bytes) {
        let target = record.suite().target;
        assert!(record.base_passed <= target && target <= MAX_TESTS);
        let plain = json!({"base_passed": record.base_passed, "target_passed": target});
        assert_eq!(meta(plain.to_string().as_bytes()), Ok(record));
    }
    if let Ok(turn) = conclusion(bytes) {
        assert!(turn.passed.is_none_or(|n| n <= MAX_TESTS));
        let plain = json!({
            "num_passed": turn.passed,
            "is_collapsed": turn.passed.is_none(),
            "is_solved": turn.solved,
        });
        assert_eq!(conclusion(plain.to_string().as_bytes()), Ok(turn));
    }
});
