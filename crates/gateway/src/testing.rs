//! The gateway alone, for benchmarks: sessions of many steps at once, without
//! containers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use swe_ci_base::clock::now_ms;
use swe_ci_core::agent::{Budget, Endpoint, Protocol};
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::usage::{Traffic, Usage};

use crate::{Gateway, GatewaySession, Ledger, SOCKET, SessionConfig, SocketMount};

pub const MODEL: &str = "scripted-1";

/// A gateway with open sessions; dropping it closes them.
#[derive(Debug)]
pub struct OpenGateway {
    sessions: Vec<(GatewaySession, SocketMount)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opening {
    pub socket: PathBuf,
    pub token: String,
}

impl OpenGateway {
    /// `url` is the provider's. Each session has a key with its own name, hence
    /// its own concurrency limiter: the limiter adapts slowly, and is not what
    /// the benchmark measures.
    pub fn open(folder: &Path, url: &str, key: &str, steps: usize) -> anyhow::Result<Self> {
        let gateway = Gateway::new(folder.to_owned())?;
        let open = |step: usize| {
            let socket_mount = gateway.socket_mount()?;
            let session = gateway.open(Some(&socket_mount), session_config(url, key, step))?;
            Ok((session, socket_mount))
        };
        let sessions = (0..steps).map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { sessions })
    }

    pub fn openings(&self) -> Vec<Opening> {
        let opening = |(session, socket_mount): &(GatewaySession, SocketMount)| Opening {
            socket: socket_mount.path().join(SOCKET),
            token: session.token().to_owned(),
        };
        self.sessions.iter().map(opening).collect()
    }
}

fn session_config(url: &str, key: &str, step: usize) -> SessionConfig {
    let ledger = Ledger::new(
        Budget::default(),
        now_ms(),
        Usage::default(),
        Traffic::default(),
    );
    SessionConfig {
        endpoint: Endpoint {
            protocol: Protocol::Chat,
            url: url.to_owned(),
            model: MODEL.to_owned(),
            key: Some(format!("step-{step}")),
            ..Endpoint::default()
        },
        grant: RunPermissions::default(),
        keys: [(format!("step-{step}"), key.into())].into(),
        recording: None,
        ledger: Arc::new(ledger),
        evolution_ledger: None,
        usage_store: None,
        allow_hosted_tools: false,
        step: format!("bench/{step}"),
        patience: Duration::from_mins(1),
    }
}
