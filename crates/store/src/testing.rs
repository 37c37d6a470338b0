//! Example rows and actors for tests.

use sqlx::AnyPool;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Report;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_views::account::{AccountRole, Actor, Identity};
use swe_ci_views::view::TaskState;

use crate::sql::composed;
use crate::{Suite, TaskRow};

/// A PostgreSQL database of its own for a test or a benchmark.
#[derive(Debug)]
pub struct PostgresDatabase {
    pub url: String,
    pub name: String,
    /// Connected to another database of the same server.
    pub server: AnyPool,
}

impl PostgresDatabase {
    /// A new one on the server that `DATABASE_URL_POSTGRES` names; `None` if the
    /// variable is not set.
    pub async fn create() -> Result<Option<Self>> {
        #[allow(
            clippy::disallowed_methods,
            reason = "tests and benchmarks find the server in the environment"
        )]
        let Ok(server) = std::env::var("DATABASE_URL_POSTGRES") else {
            return Ok(None);
        };
        sqlx::any::install_default_drivers();
        let name = format!("test_{}", uuid::Uuid::now_v7().simple());
        let (address, settings) = server.split_once('?').unwrap_or((&server, ""));
        let host = address.rsplit_once('/').map_or(address, |(host, _)| host);
        let url = format!("{host}/{name}?{settings}");
        let server = AnyPool::connect(&server).await?;
        composed(format!("CREATE DATABASE {name}"))
            .run(&server)
            .await?;
        Ok(Some(Self { url, name, server }))
    }

    /// Removes it, whoever is connected still.
    pub async fn remove(self) -> Result<()> {
        composed(format!("DROP DATABASE {} WITH (FORCE)", self.name))
            .run(&self.server)
            .await
    }
}

/// An actor whose account has this id and name.
pub fn account(id: &str, role: AccountRole) -> Actor {
    Actor::Account(Identity {
        account_id: id.into(),
        name: id.into(),
        role,
        until: None,
        reads_metrics: false,
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
