//! The containers of an evolution: while a step works, the pool creates those
//! of the next three steps, so that three fresh containers an iteration cost
//! little.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use swe_ci_base::blocking::blocking;
use swe_ci_core::run::Limits;
use swe_ci_core::step::Role;
use swe_ci_gateway::{Gateway, INSIDE, RELAY_COMMAND, SocketMount};
use swe_ci_grading::{Bootstrap, Graded, Grading, grade, grade_in};
use swe_ci_sandbox::{
    ContainerSpec, GatewayMount, OnLine, Purpose, Sandbox, SandboxContainer, SandboxError,
};
use swe_ci_views::container::{Container, ContainerLimits};
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

/// A step's container is created while the three before it work, so that even
/// steps shorter than its creation (0.2 s; with pytest's start 0.5 s) do not
/// wait.
const CREATED_AHEAD: usize = 3;

type PendingContainer = tokio::task::JoinHandle<Result<StepContainer, SandboxError>>;

/// A container, with the gateway's socket mount if its agent uses a model.
#[derive(Debug)]
pub(super) struct StepContainer {
    pub sandbox: Box<dyn SandboxContainer>,
    pub socket_mount: Option<SocketMount>,
    /// In the container of pytest's tests: pytest, imported and waiting.
    bootstrap: Mutex<Option<Bootstrap>>,
}

impl StepContainer {
    pub async fn grade(
        &self,
        grading: &Grading,
        on_line: OnLine<'_>,
    ) -> Result<Graded, SandboxError> {
        let sandbox = self.sandbox.as_ref();
        let waiting = self.bootstrap.lock();
        let waiting = waiting.unwrap_or_else(PoisonError::into_inner).take();
        match waiting {
            Some(bootstrap) => grade_in(sandbox, bootstrap, grading, on_line).await,
            None => grade(sandbox, grading, on_line).await,
        }
    }

    /// What is known of it; removes it.
    pub async fn noted(self, limits: ContainerLimits, has_exit_code: bool) -> Option<Container> {
        let facts = self.sandbox.seen().await?;
        Some(Container {
            image: facts.image,
            image_name: facts.image_name,
            limits,
            exit_code: facts.exit_code.filter(|_| has_exit_code),
            out_of_memory: facts.out_of_memory,
            seconds: facts.seconds,
            engine: facts.engine,
        })
    }
}

#[derive(Debug)]
pub(super) struct ContainerPool {
    factory: ContainerFactory,
    /// The steps that need a container.
    roles: &'static [Role],
    ahead: VecDeque<(Role, PendingContainer)>,
}

/// Creates the containers of an evolution.
#[derive(Debug, Clone)]
pub(super) struct ContainerFactory {
    pub sandbox: Arc<dyn Sandbox>,
    pub gateway: Gateway,
    pub image: String,
    pub limits: Limits,
    /// Whether the tests are pytest's.
    pub with_bootstrap: bool,
    pub evolution_id: String,
    /// Lets a stopping process wait for containers it has already requested.
    pub pending_containers: TaskTracker,
    /// Of the evolution: no step waits for what is created ahead.
    pub span: Span,
}

impl ContainerPool {
    pub fn new(factory: ContainerFactory, roles: &'static [Role]) -> Self {
        Self {
            factory,
            roles,
            ahead: VecDeque::new(),
        }
    }

    /// A container for a step of this role, from the pool or new. Starts the
    /// creation of the next ones; after the last iteration no step follows.
    #[tracing::instrument(name = "wait for a container", level = "debug", skip_all)]
    pub async fn open(
        &mut self,
        role: Role,
        last_iteration: bool,
        layer: impl Fn(Role) -> Option<String>,
    ) -> Result<StepContainer, SandboxError> {
        let ready = match self.position(role).and_then(|at| self.ahead.remove(at)) {
            // A failed container of the pool does not fail this step.
            Some((_, pending)) => pending.await.ok().and_then(Result::ok),
            None => None,
        };
        let container = match ready {
            Some(container) => container,
            None => self.factory.create(role, layer(role)).await?,
        };
        let mut next = role;
        for _ in 0..CREATED_AHEAD {
            next = next.next();
            if last_iteration && next == Role::Architect {
                break;
            }
            if self.roles.contains(&next) && self.position(next).is_none() {
                let (factory, layer) = (self.factory.clone(), layer(next));
                let span = factory.span.clone();
                let creating = async move { factory.create(next, layer).await };
                let pending = self
                    .factory
                    .pending_containers
                    .spawn(creating.instrument(span));
                self.ahead.push_back((next, pending));
            }
        }
        Ok(container)
    }

    /// One for tests that are no step.
    pub async fn open_apart(&self) -> Result<Box<dyn SandboxContainer>, SandboxError> {
        self.factory.sandbox.open(&self.factory.spec()).await
    }

    /// Lets go of the containers created ahead: what broke one may have broken all.
    pub fn clear(&mut self) {
        self.ahead.clear();
    }

    fn position(&self, role: Role) -> Option<usize> {
        let mut roles = self.ahead.iter().map(|(created_for, _)| *created_for);
        roles.position(|created_for| created_for == role)
    }
}

impl ContainerFactory {
    /// `layer` is the volume with the harness, for an agent that calls its model
    /// from the container: that needs the gateway's socket too.
    async fn create(
        &self,
        role: Role,
        layer: Option<String>,
    ) -> Result<StepContainer, SandboxError> {
        let socket_mount = match &layer {
            Some(_) => {
                let gateway = self.gateway.clone();
                Some(blocking(move || gateway.socket_mount()).await?)
            }
            None => None,
        };
        let gateway = socket_mount.as_ref().map(|mount| GatewayMount {
            folder: mount.path().to_owned(),
            inside: INSIDE,
            relay: RELAY_COMMAND,
        });
        let spec = ContainerSpec {
            layer,
            gateway,
            ..self.spec()
        };
        let sandbox = self.sandbox.open(&spec).await?;
        let bootstrap = match role {
            Role::Test if self.with_bootstrap => {
                Some(Bootstrap::start(sandbox.as_ref(), self.limits).await?)
            }
            _ => None,
        };
        Ok(StepContainer {
            sandbox,
            socket_mount,
            bootstrap: Mutex::new(bootstrap),
        })
    }

    fn spec(&self) -> ContainerSpec {
        let purpose = Purpose::Step(self.evolution_id.clone());
        ContainerSpec::new(&self.image, self.limits, purpose)
    }
}
