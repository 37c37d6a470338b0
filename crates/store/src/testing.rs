//! Example rows and actors for tests.

use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Report;
use swe_ci_core::task::{SuiteCounts, TaskId, TestCommand};
use swe_ci_views::account::{AccountRole, Actor, Identity};
use swe_ci_views::view::TaskState;

use crate::{Suite, TaskRow};

/// An actor whose account has this id and name.
pub fn account(id: &str, role: AccountRole) -> Actor {
    Actor::Account(Identity {
        account_id: id.into(),
        name: id.into(),
        role,
        until: None,
    })
}

/// A runnable task with one test, which the base fails.
pub fn task(name: &str) -> TaskRow {
    let report = br#"{"exitcode": 0, "summary": {"passed": 1}, "tests": [{"nodeid": "a", "outcome": "passed"}]}"#;
    TaskRow {
        id: TaskId::new(name).unwrap(),
        repo: "tiny".into(),
        base_sha: "a".repeat(40),
        target_sha: "b".repeat(40),
        state: TaskState::Ready,
        image: "sha256:0".into(),
        suite: Suite {
            counts: SuiteCounts {
                target: 1,
                ..SuiteCounts::default()
            },
            tests: TestList::of_target(&Report::parse(report).unwrap()),
            base_outcomes: Outcomes::from_letters("f".into()),
        },
        base_report: None,
        test_command: TestCommand::default(),
        suite_seconds: 0.5,
        commits: 4,
        span_days: 1.5,
        target_time: None,
        preparation: Default::default(),
        extra: Vec::new(),
    }
}
