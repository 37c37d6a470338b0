//! The gateway by itself, for measuring: open to many steps at once, without
//! containers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use swe_ci_core::agent::{Budget, Endpoint, Protocol};
use swe_ci_core::usage::{Traffic, Usage};

use crate::Engine;
use crate::clock::now_ms;
use crate::gateway::{Door, Gateway, Hatch, Ledger, Pass, SOCKET};
use crate::grant::Grant;

/// The model its steps ask.
pub const MODEL: &str = "scripted-1";

/// A gateway open to some steps, until it is dropped.
#[derive(Debug)]
pub struct OpenGateway {
    doors: Vec<(Door, Hatch)>,
}

/// Where a step finds the gateway, and what lets it in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opening {
    pub socket: PathBuf,
    pub token: String,
}

impl OpenGateway {
    /// `url` is the provider's. Each step has a key by a name of its own, and
    /// so waits for no other: how many requests one key bears is found out
    /// slowly, and not what is measured here.
    pub fn open(folder: &Path, url: &str, key: &str, steps: usize) -> anyhow::Result<Self> {
        let gateway = Gateway::new(folder.to_owned())?;
        let open = |step: usize| {
            let hatch = gateway.hatch()?;
            let door = gateway.open(Some(&hatch), pass(url, key, step))?;
            Ok((door, hatch))
        };
        let doors = (0..steps).map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { doors })
    }

    #[must_use]
    pub fn openings(&self) -> Vec<Opening> {
        let opening = |(door, hatch): &(Door, Hatch)| Opening {
            socket: hatch.path().join(SOCKET),
            token: door.token().to_owned(),
        };
        self.doors.iter().map(opening).collect()
    }
}

fn pass(url: &str, key: &str, step: usize) -> Pass {
    let ledger = Ledger::new(
        Budget::default(),
        now_ms(),
        Usage::default(),
        Traffic::default(),
    );
    Pass {
        endpoint: Endpoint {
            protocol: Protocol::Chat,
            url: url.to_owned(),
            model: MODEL.to_owned(),
            key: Some(format!("step-{step}")),
            parameters: serde_json::Map::default(),
            prices: None,
            recording: None,
        },
        grant: Grant::default(),
        key: Some(key.into()),
        recording: None,
        ledger: Arc::new(ledger),
        patience: Duration::from_mins(1),
    }
}

/// A program's layer, with the name of its volume and the seconds building it
/// took, 0 when it was there.
pub async fn layer(engine: &Engine, program: &str) -> anyhow::Result<(String, f64)> {
    let harnesses = &engine.inner.harnesses;
    let layer = harnesses.installed(program, None, &|_| {}).await?.layer;
    Ok((layer.volume, layer.seconds))
}
