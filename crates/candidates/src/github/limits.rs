//! GitHub's rate limits: reads them from responses and delays requests
//! until they end.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use swe_ci_base::retry::{Retries, doubled, retry_after};

use super::{Progress, ProgressListener};

/// How the client deals with time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) connect: Duration,
    /// For one answer.
    pub(super) whole: Duration,
    /// GitHub counts requests by the hour.
    pub(super) retries: Retries,
    /// When GitHub asks for less, and does not say how much: a minute at
    /// least, by its documentation; doubled from then on.
    pub(super) unannounced: Duration,
    /// After the end of a rate limit: clocks differ.
    pub(super) margin: Duration,
    /// How often a search is tried that GitHub does not finish in time.
    pub(super) searches: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            whole: Duration::from_mins(2),
            retries: Retries {
                first_delay: Duration::from_secs(1),
                max_delay: Duration::from_mins(1),
                max_requested: Duration::from_mins(65),
                tries: 7,
            },
            unannounced: Duration::from_mins(1),
            margin: Duration::from_secs(1),
            searches: 3,
        }
    }
}

/// GitHub's rate-limited resources. Search has a limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Search,
    Core,
}

const ALL: [Resource; 2] = [Resource::Search, Resource::Core];

/// Holds requests back while a rate limit lasts.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: Mutex<[Option<Closed>; ALL.len()]>,
}

#[derive(Debug)]
struct Closed {
    until: Instant,
    why: String,
    /// Only the first of many waiting tasks reports the wait.
    reported: bool,
}

impl Gate {
    /// Waits until requests for a resource are allowed.
    pub(super) async fn wait(&self, resource: Resource, listener: ProgressListener<'_>) {
        // Another response may close it again meanwhile.
        while let Some((pause, why)) = self.remaining(resource) {
            if let Some(why) = why {
                listener(Progress::Waiting { why, pause });
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// How long to wait, and why if nobody has reported it yet.
    fn remaining(&self, resource: Resource) -> Option<(Duration, Option<String>)> {
        let mut gate = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = gate[resource as usize].as_mut()?;
        let pause = closed.until.checked_duration_since(Instant::now())?;
        let first = !std::mem::replace(&mut closed.reported, true);
        let why = first.then(|| closed.why.clone());
        (!pause.is_zero()).then_some((pause, why))
    }

    fn close(&self, limit: &Limit) {
        let mut gate = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + limit.pause;
        for resource in ALL {
            let concerned = limit.resource.is_none_or(|of| of == resource);
            let closed = &mut gate[resource as usize];
            let later = closed.as_ref().is_none_or(|closed| closed.until < until);
            if concerned && later {
                *closed = Some(Closed {
                    until,
                    why: limit.why.clone(),
                    reported: false,
                });
            }
        }
    }

    /// Closes the gate for as long as GitHub asks; false if that is longer than
    /// the client waits.
    pub(super) fn obey(&self, limit: &Limit, pace: &Pace) -> bool {
        let obeyed = limit.pause <= pace.retries.max_requested;
        if obeyed {
            self.close(limit);
        }
        obeyed
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// None if it applies to all requests.
    resource: Option<Resource>,
    pub(super) pause: Duration,
    pub(super) why: String,
}

impl Limit {
    /// The limit reached with this response, which may have succeeded or
    /// failed. `message` is GitHub's error message; `failures` includes this
    /// response.
    pub(super) fn from_response(
        status: StatusCode,
        headers: &HeaderMap,
        message: &str,
        resource: Resource,
        pace: &Pace,
        failures: u32,
    ) -> Option<Self> {
        let refused = is_refusal(status);
        if refused && let Some(pause) = text(headers, RETRY_AFTER.as_str()).and_then(retry_after) {
            return Some(Self::secondary(pause));
        }
        if (refused || status.is_success()) && number(headers, "x-ratelimit-remaining") == Some(0) {
            let reset = number(headers, "x-ratelimit-reset")?;
            return Some(Self::primary(reset, server_time(headers), resource, pace));
        }
        let message = message.to_ascii_lowercase();
        let secondary = status == StatusCode::TOO_MANY_REQUESTS
            || message.contains("rate limit")
            || message.contains("abuse detection");
        (refused && secondary).then(|| Self::secondary(doubled(pace.unannounced, failures)))
    }

    fn secondary(pause: Duration) -> Self {
        Self {
            resource: None,
            pause,
            why: format!("GitHub asks for fewer requests, and for none within {pause:?}"),
        }
    }

    /// `reset` is Unix time in seconds by the server's clock.
    fn primary(reset: u64, server_time: i64, resource: Resource, pace: &Pace) -> Self {
        let left = i128::from(reset) - i128::from(server_time);
        let left = Duration::from_secs(u64::try_from(left).unwrap_or(0));
        let pause = left.saturating_add(pace.margin);
        let of = match resource {
            Resource::Search => "searches",
            Resource::Core => "requests",
        };
        Self {
            resource: Some(resource),
            pause,
            why: format!("GitHub's rate limit for {of} is reached for another {pause:?}"),
        }
    }
}

pub(super) fn is_refusal(status: StatusCode) -> bool {
    [StatusCode::FORBIDDEN, StatusCode::TOO_MANY_REQUESTS].contains(&status)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.trim().parse().ok()
}

/// The server's Unix time in seconds, because the local clock may be wrong; the
/// local time if the server does not send it.
fn server_time(headers: &HeaderMap) -> i64 {
    let date = text(headers, DATE.as_str()).and_then(|date| rfc2822::parse(date).ok());
    date.map_or_else(Timestamp::now, |date| date.timestamp())
        .as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_in_responses() {
        let check = |status: u16,
                     headers: &[(&'static str, &str)],
                     message: &str,
                     expect: Option<(Option<Resource>, u64)>| {
            let mut map = HeaderMap::new();
            map.insert(DATE, "Thu, 01 Jan 2026 00:00:00 GMT".parse().unwrap());
            for (name, value) in headers {
                map.insert(*name, value.parse().unwrap());
            }
            let status = StatusCode::from_u16(status).unwrap();
            let pace = Pace::default();
            let limit = Limit::from_response(status, &map, message, Resource::Search, &pace, 2);
            let limit = limit.map(|limit| (limit.resource, limit.pause.as_secs()));
            assert_eq!(limit, expect, "{status} {headers:?} {message}");
        };
        let start = 1_767_225_600;
        let (soon, past) = ((start + 40).to_string(), (start - 40).to_string());
        let none = ("x-ratelimit-remaining", "0");
        let some = ("x-ratelimit-remaining", "3");
        let search = |seconds| Some((Some(Resource::Search), seconds));
        check(200, &[some, ("x-ratelimit-reset", &soon)], "", None);
        check(200, &[none, ("x-ratelimit-reset", &soon)], "", search(41));
        check(403, &[none, ("x-ratelimit-reset", &soon)], "", search(41));
        check(429, &[none, ("x-ratelimit-reset", &past)], "", search(1));
        check(500, &[none, ("x-ratelimit-reset", &soon)], "", None);
        check(200, &[none, ("x-ratelimit-reset", "soon")], "", None);
        check(403, &[("retry-after", "7")], "", Some((None, 7)));
        check(429, &[("retry-after", "7"), none], "", Some((None, 7)));
        check(200, &[("retry-after", "7")], "", None);
        check(429, &[], "", Some((None, 120)));
        let secondary = "You have exceeded a secondary rate limit. Please wait";
        check(403, &[some], secondary, Some((None, 120)));
        check(403, &[], "abuse detection mechanism", Some((None, 120)));
        check(403, &[some], "Repository access blocked", None);
        check(404, &[], secondary, None);
    }

    #[test]
    fn only_one_waiting_task_reports() {
        let gate = Gate::default();
        let limit = |seconds: u64, resource: Option<Resource>| Limit {
            resource,
            pause: Duration::from_secs(seconds),
            why: format!("{seconds}"),
        };
        let waits = |resource: Resource, expect: Option<Option<&str>>| {
            let wait = gate.remaining(resource).map(|(_, why)| why);
            assert_eq!(wait.as_ref().map(Option::as_deref), expect, "{resource:?}");
        };
        waits(Resource::Core, None);
        gate.close(&limit(60, Some(Resource::Search)));
        waits(Resource::Core, None);
        waits(Resource::Search, Some(Some("60")));
        waits(Resource::Search, Some(None));
        gate.close(&limit(30, None));
        waits(Resource::Search, Some(None));
        waits(Resource::Core, Some(Some("30")));
        assert!(!gate.obey(&limit(86_400, None), &Pace::default()));
        waits(Resource::Core, Some(None));
        let past = Gate::default();
        past.close(&limit(0, None));
        assert_eq!(past.remaining(Resource::Core), None);
    }
}
