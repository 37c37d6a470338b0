//! One step's way to its model, from opening to closing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use secrecy::SecretString;
use swe_ci_core::agent::Endpoint;
use swe_ci_core::usage::{Traffic, Usage};
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::recording::Recorder;
use super::step::{Said, Step};
use super::{Gateway, Hatch, Ledger, Recording, SOCKET, serve};
use crate::clock::OffClock;
use crate::grant::Grant;

/// How long exchanges under way may go on when the step has ended, so that
/// what they cost is known.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What a step may do at the gateway.
#[derive(Debug)]
pub struct Pass {
    pub endpoint: Endpoint,
    pub grant: Grant,
    pub key: Option<SecretString>,
    /// Answers come from here when there is one.
    pub recording: Option<Arc<Recording>>,
    /// The run's budget.
    pub ledger: Arc<Ledger>,
    /// The most waiting for the provider, in all.
    pub patience: Duration,
}

/// Why a step cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doom {
    Budget(String),
    Provider(String),
}

/// What a step took, once its door is closed.
#[derive(Debug, Default)]
pub struct Account {
    pub usage: Usage,
    pub traffic: Traffic,
    /// Why the provider is to blame, when the last exchange failed.
    pub trouble: Option<String>,
    /// The exchanges as JSON lines; none when nothing was said.
    pub recording: Option<Vec<u8>>,
}

/// The gateway as open to one step. Closed when it is dropped, but only
/// [`Door::close`] gives the account.
#[derive(Debug)]
pub struct Door {
    step: Arc<Step>,
    /// Of the socket, when there is one.
    listening: Option<(PathBuf, AbortHandle, Hatch)>,
}

impl Gateway {
    /// Opens the gateway to a step. With a hatch, its container reaches it;
    /// without, only [`Door::router`] does.
    pub fn open(&self, hatch: Option<&Hatch>, pass: Pass) -> anyhow::Result<Door> {
        let inner = &self.inner;
        let spool = format!("{}.jsonl", uuid::Uuid::now_v7());
        let spool = self.folder()?.join(spool);
        let key = pass.endpoint.key.as_deref();
        let key = key.map(|name| pass.grant.keyring.full_name(name));
        let lane = inner.lanes.to(&pass.endpoint.url, key.as_deref());
        let step = Arc::new(Step {
            token: token()?,
            key: pass.key,
            recording: pass.recording,
            client: self.client(pass.grant.reach).clone(),
            reach: pass.grant.reach,
            lane,
            pace: inner.pace,
            patience: pass.patience,
            off: OffClock::default(),
            ledger: pass.ledger,
            room: Arc::new(Semaphore::new(serve::ROOM)),
            exchanges: TaskTracker::new(),
            closed: CancellationToken::new(),
            doomed: CancellationToken::new(),
            said: Mutex::new(Said::new(&pass.endpoint, Recorder::new(spool))),
            endpoint: pass.endpoint,
        });
        let listening = hatch.map(|hatch| listen(hatch, &step)).transpose()?;
        Ok(Door { step, listening })
    }
}

impl Door {
    /// The only key the harness is given.
    pub fn token(&self) -> &str {
        &self.step.token
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.step.endpoint
    }

    /// The time the agent is not charged for.
    pub fn off_clock(&self) -> OffClock {
        self.step.off.clone()
    }

    /// How long the provider is being waited for, if it is, and what it said
    /// last: empty while it is its turn that a request waits for.
    pub fn waiting(&self) -> Option<(Duration, String)> {
        let waited = self.step.off.waiting()?;
        let setback = self.step.said().setback.clone();
        Some((waited, setback.unwrap_or_default()))
    }

    /// The gateway for callers in this process.
    pub fn router(&self) -> axum::Router {
        serve::router(self.step.clone())
    }

    /// Returns when the step cannot go on.
    pub async fn doomed(&self) -> Doom {
        tokio::select! {
            () = self.step.doomed.cancelled() => {
                let trouble = self.step.said().trouble.clone();
                Doom::Provider(trouble.unwrap_or_default())
            }
            reached = self.step.ledger.spent() => Doom::Budget(reached),
        }
    }

    /// Ends what is under way, for a step that is broken off.
    pub fn cut(&self) {
        self.step.closed.cancel();
    }

    /// Lets nobody in any more, waits a little for what is under way, and
    /// says what the step took.
    pub async fn close(mut self) -> Account {
        self.shut();
        self.step.exchanges.close();
        let done = tokio::time::timeout(LAST_WORDS, self.step.exchanges.wait()).await;
        if done.is_err() {
            self.step.closed.cancel();
            // They end by themselves now, and write down what they know.
            let _ = tokio::time::timeout(LAST_WORDS, self.step.exchanges.wait()).await;
        }
        let step = self.step.clone();
        let waited = u64::try_from(step.off.total().as_millis()).unwrap_or(u64::MAX);
        let mut said = step.said();
        said.traffic.waiting_ms = waited;
        let recording = said.recorder.take().unwrap_or_else(|error| {
            tracing::warn!("a recording could not be read back: {error:#}");
            None
        });
        Account {
            usage: said.usage,
            traffic: said.traffic,
            trouble: said.trouble.take(),
            recording,
        }
    }

    /// The socket goes, and no request is begun any more.
    fn shut(&mut self) {
        if let Some((socket, server, _)) = self.listening.take() {
            let _ = fs::remove_file(socket);
            server.abort();
        }
        self.step.exchanges.close();
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shut();
        self.step.closed.cancel();
    }
}

impl Said {
    fn new(endpoint: &Endpoint, recorder: Recorder) -> Self {
        Self {
            arrived: 0,
            distinct: 0,
            last_body: None,
            usage: Usage::default(),
            traffic: Traffic {
                micro_usd: endpoint.prices.map(|_| 0),
                ..Traffic::default()
            },
            trouble: None,
            setback: None,
            recorder,
        }
    }
}

fn listen(hatch: &Hatch, step: &Arc<Step>) -> anyhow::Result<(PathBuf, AbortHandle, Hatch)> {
    let socket = hatch.path().join(SOCKET);
    let listener = bind(hatch)
        .with_context(|| format!("cannot open the gateway's socket {}", socket.display()))?;
    // Whoever connects must show the token; the folder above keeps other
    // users of this machine out.
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666))?;
    let router = serve::router(step.clone());
    let server = tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::warn!("the gateway's socket failed: {error}");
        }
    });
    Ok((socket, server.abort_handle(), hatch.clone()))
}

/// A socket's address has room for 107 bytes, and data folders may be deep:
/// through an open folder every path is short.
fn bind(hatch: &Hatch) -> std::io::Result<UnixListener> {
    use std::os::fd::AsRawFd;
    let direct = hatch.path().join(SOCKET);
    if direct.as_os_str().len() < 100 {
        return UnixListener::bind(direct);
    }
    let folder = fs::File::open(hatch.path())?;
    UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()))
}

/// 256 bits nobody can guess.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system has no randomness")?;
    Ok(format!("swe-ci-{}", crate::code::hex(&bytes)))
}
