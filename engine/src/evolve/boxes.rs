//! The containers of an evolution: while a step works, those of the next two
//! are made, so that three fresh containers an iteration cost little.

use std::collections::VecDeque;
use std::sync::Arc;

use swe_ci_core::run::Limits;
use swe_ci_core::step::Role;
use tokio_util::task::TaskTracker;

use super::agents::Agents;
use crate::blocking::blocking;
use crate::gateway::{Gateway, Hatch, INSIDE, RELAY_COMMAND};
use crate::sandbox::{BoxSpec, GatewayMount, Purpose, Sandbox, SandboxError, StepBox};

/// With one, steps shorter than the making of a container (0.2 s) would still
/// wait for it.
const MADE_AHEAD: usize = 2;

type Making = tokio::task::JoinHandle<Result<Room, SandboxError>>;

/// A container, with its hatch to the gateway if an agent is to ask a model
/// in it.
#[derive(Debug)]
pub(super) struct Room {
    pub sandbox: Box<dyn StepBox>,
    pub hatch: Option<Hatch>,
}

#[derive(Debug)]
pub(super) struct Boxes {
    maker: Maker,
    ahead: VecDeque<(Role, Making)>,
}

#[derive(Debug, Clone)]
struct Maker {
    sandbox: Arc<dyn Sandbox>,
    gateway: Gateway,
    image: String,
    limits: Limits,
    evolution_id: String,
    /// So that a process that stops can wait for what it has asked for.
    makings: TaskTracker,
}

impl Boxes {
    pub fn new(
        sandbox: Arc<dyn Sandbox>,
        gateway: Gateway,
        image: String,
        limits: Limits,
        evolution_id: String,
        makings: TaskTracker,
    ) -> Self {
        Self {
            maker: Maker {
                sandbox,
                gateway,
                image,
                limits,
                evolution_id,
                makings,
            },
            ahead: VecDeque::new(),
        }
    }

    /// A container for a step of this role: one made ahead, or a new one.
    /// Sets the making of the next ones in motion.
    pub async fn open(&mut self, role: Role, agents: &Agents) -> Result<Room, SandboxError> {
        let found = self
            .ahead
            .iter()
            .position(|(made_for, _)| *made_for == role);
        let ready = match found.and_then(|at| self.ahead.remove(at)) {
            // A container made ahead that failed is no failure of this step.
            Some((_, making)) => making.await.ok().and_then(Result::ok),
            None => None,
        };
        let room = match ready {
            Some(room) => room,
            None => self.maker.make(agents.needs(role)).await?,
        };
        let mut next = role;
        for _ in 0..MADE_AHEAD {
            next = next.next();
            if !self.ahead.iter().any(|(made_for, _)| *made_for == next) {
                let (maker, needs) = (self.maker.clone(), agents.needs(next));
                let makings = self.maker.makings.clone();
                let making = makings.spawn(async move { maker.make(needs).await });
                self.ahead.push_back((next, making));
            }
        }
        Ok(room)
    }
}

/// What a container needs beside the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The way to the gateway, and a volume with the harness.
    Gateway {
        layer: String,
    },
}

impl Maker {
    async fn make(&self, needs: Needs) -> Result<Room, SandboxError> {
        let (hatch, layer, gateway) = match needs {
            Needs::Nothing => (None, None, None),
            Needs::Gateway { layer } => {
                let gateway = self.gateway.clone();
                let hatch = blocking(move || gateway.hatch()).await?;
                let mounts = GatewayMount {
                    folder: hatch.path().to_owned(),
                    inside: INSIDE,
                    relay: RELAY_COMMAND,
                };
                (Some(hatch), Some(layer), Some(mounts))
            }
        };
        let purpose = Purpose::Step {
            evolution_id: self.evolution_id.clone(),
        };
        let spec = BoxSpec {
            layer,
            gateway,
            ..BoxSpec::new(&self.image, self.limits, purpose)
        };
        let sandbox = self.sandbox.open(&spec).await?;
        Ok(Room { sandbox, hatch })
    }
}
