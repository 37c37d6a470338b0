//! Times: unix milliseconds in the store, RFC 3339 on the way out.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// `2026-11-20T14:03:00Z`
pub fn rfc3339(ms: i64) -> String {
    let seconds = ms.div_euclid(1_000);
    jiff::Timestamp::from_second(seconds)
        .unwrap_or_default()
        .to_string()
}

/// The day in UTC, `2026-11-20`.
pub fn today() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    now.date().to_string()
}

/// Seconds between two unix milliseconds.
pub fn seconds_between(from_ms: i64, to_ms: i64) -> f64 {
    (to_ms - from_ms) as f64 / 1_000.0
}
