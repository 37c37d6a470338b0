//! A gateway session: one step's access to its model, from opening to closing.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use secrecy::SecretString;
use serde_json::Value;
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_core::agent::Endpoint;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::step::Truncation;
use swe_ci_core::usage::{Traffic, Usage};
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tracing::Span;

use super::connections::{self, ConnectionLimits};
use super::recording::Recorder;
use super::reply::EVENTS;
use super::server::{self, InProcess};
use super::session_state::{ExchangeTotals, SessionState};
use super::{ChatAnswer, Gateway, Ledger, Recording, SOCKET, SocketMount};

/// How long active exchanges may continue after the step has ended, so that
/// their cost is known.
const CLOSE_GRACE: Duration = Duration::from_secs(5);
/// The most bytes of an answer to this process.
pub(super) const MAX_ANSWER: usize = 32 << 20;

/// The model, key, budget and limits of one session.
#[derive(Debug)]
pub struct SessionConfig {
    pub endpoint: Endpoint,
    pub grant: RunPermissions,
    /// The keys that the endpoint names.
    pub keys: BTreeMap<String, SecretString>,
    /// If present, answers come from this recording.
    pub recording: Option<Arc<Recording>>,
    pub ledger: Arc<Ledger>,
    /// Of the evolution, if it has a budget of its own.
    pub evolution_ledger: Option<Arc<Ledger>>,
    /// Keeps what the step has taken, if it is to outlive this process.
    pub usage_store: Option<Arc<dyn UsageStore>>,
    /// Maximum total time spent waiting for the provider.
    pub patience: Duration,
    /// Whether the provider may search, fetch and execute for the agent.
    pub allow_hosted_tools: bool,
    /// Run, evolution, iteration and role, with slashes between: the value of the
    /// header `x-swe-ci-step`.
    pub step: String,
}

/// Keeps what a step has taken so far; the last call counts.
#[async_trait]
pub trait UsageStore: Debug + Send + Sync {
    async fn keep(&self, usage: Usage, traffic: Traffic) -> anyhow::Result<()>;
}

/// Why a step cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    Budget(String),
    EvolutionBudget(String),
    Provider(String),
}

/// The status and the text of an answer that is none.
pub type Refusal = (StatusCode, String);

/// A wait for the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub waited: Duration,
    /// The last failure; empty if a request waits for its first answer.
    pub why: String,
    /// When the provider is asked again, in unix milliseconds.
    pub next_try: Option<i64>,
    /// The probes of the step so far, and millionths of a US dollar for them.
    pub probes: u64,
    pub probe_micro_usd: u64,
}

#[derive(Debug, Default)]
pub struct Account {
    pub usage: Usage,
    pub traffic: Traffic,
    /// Why the provider is to blame, if the last exchange failed.
    pub trouble: Option<String>,
    /// Of the last answer, with its tokens for [`Truncation::in_words`].
    pub truncation: Option<(Truncation, Vec<u64>)>,
    /// The refused requests by the names of the tools they asked the provider
    /// to execute.
    pub refused_tools: BTreeMap<String, u32>,
    /// The exchanges as JSON lines; none if there were none.
    pub recording: Option<Vec<u8>>,
}

/// An open session. Dropping it closes it, but only [`GatewaySession::close`]
/// returns the account.
#[derive(Debug)]
pub struct GatewaySession {
    state: Arc<SessionState>,
    /// The socket's path, server and mount, if there is a socket.
    listening: Option<(PathBuf, AbortHandle, SocketMount)>,
}

impl Gateway {
    /// Opens a session. With a socket mount, the step's container can reach it;
    /// without, only [`GatewaySession::chat`] can.
    pub fn open(
        &self,
        socket_mount: Option<&SocketMount>,
        config: SessionConfig,
    ) -> anyhow::Result<GatewaySession> {
        let spool = format!("{}.jsonl", uuid::Uuid::now_v7());
        let spool = self.folder()?.join(spool);
        let endpoint = &config.endpoint;
        let key = endpoint.key.as_deref();
        let key = key.map(|name| config.grant.keyring.full_name(name));
        let totals = ExchangeTotals {
            traffic: Traffic {
                micro_usd: endpoint.prices.map(|_| 0),
                ..Traffic::default()
            },
            recorder: Recorder::new(spool),
            ..ExchangeTotals::default()
        };
        let state = Arc::new(SessionState {
            token: token()?,
            known: self
                .inner
                .probes
                .of(&endpoint.url, key.clone(), &endpoint.model),
            limiter: self.inner.limiters.limiter(&endpoint.url, key),
            unable: ExcludedTime::default(),
            gateway: self.clone(),
            span: Span::current(),
            excluded: ExcludedTime::default(),
            request_memory: Arc::new(Semaphore::new(server::REQUEST_MEMORY_KIB)),
            tasks: TaskTracker::new(),
            keeping: tokio::sync::Mutex::new(config.usage_store.clone()),
            overdue: AtomicU32::new(0),
            closed: CancellationToken::new(),
            stopped: CancellationToken::new(),
            totals: Mutex::new(totals),
            config,
        });
        if state.config.usage_store.is_some() {
            state.keep_estimates();
        }
        let listening = socket_mount
            .map(|mount| listen(mount, &state))
            .transpose()?;
        Ok(GatewaySession { state, listening })
    }
}

impl GatewaySession {
    /// The only key the harness gets.
    pub fn token(&self) -> &str {
        &self.state.token
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.state.config.endpoint
    }

    /// The time that does not count against the agent's time limit.
    pub fn off_clock(&self) -> ExcludedTime {
        self.state.excluded.clone()
    }

    /// The present wait for the provider, if there is one.
    pub fn waiting(&self) -> Option<Waiting> {
        let waited = self.state.excluded.waiting()?;
        let totals = self.state.totals();
        Some(Waiting {
            waited,
            why: totals.last_failure.clone().unwrap_or_default(),
            next_try: totals.next_try,
            probes: totals.traffic.probes,
            probe_micro_usd: totals.traffic.probe_micro_usd,
        })
    }

    /// The number of the last request while it is under way, and for how long.
    pub fn under_way(&self) -> Option<(u32, Duration)> {
        let totals = self.state.totals();
        let since = totals.last_arrived.filter(|_| totals.under_way() > 0)?;
        Some((totals.arrived, since.elapsed()))
    }

    /// How often in a row the same request was sent, or the same call made, beyond the
    /// first.
    pub fn repeats(&self) -> u32 {
        self.state.totals().repeats
    }

    /// Notes what only the harness sees in the last answer.
    pub fn note(&self, truncation: Truncation) {
        self.state.totals().truncation = Some((truncation, Vec::new()));
    }

    /// The session's server for callers in this process.
    pub(crate) fn router(&self) -> axum::Router {
        server::router(self.state.clone())
    }

    /// Sends a chat completion from this process. A refusal is its status and text.
    /// Whether streams of the model's provider hold tool calls is found out once: an
    /// answer without any is asked for whole as well, as long as none was seen.
    ///
    /// # Errors
    /// When the answer is longer than 32 MiB.
    pub async fn chat(&self, body: &Value) -> anyhow::Result<Result<ChatAnswer, Refusal>> {
        let streams_calls = &self.state.known.streams_calls;
        let streamed = streams_calls.get() != Some(&false);
        let first = self.chat_once(body, streamed).await?;
        let asks_tools = body["tools"].is_array();
        Ok(match first {
            Ok((answer, is_stream)) if asks_tools && streams_calls.get().is_none() => {
                if answer.has_calls() {
                    let _ = streams_calls.set(is_stream);
                    return Ok(Ok(answer));
                }
                match self.chat_once(body, false).await? {
                    Ok((whole, _)) if whole.has_calls() => {
                        let _ = streams_calls.set(false);
                        Ok(whole)
                    }
                    _ => Ok(answer),
                }
            }
            known => known.map(|(answer, _)| answer),
        })
    }

    /// The answer, and whether it was a stream.
    async fn chat_once(
        &self,
        body: &Value,
        streamed: bool,
    ) -> anyhow::Result<Result<(ChatAnswer, bool), Refusal>> {
        let request = Request::post("/v1/chat/completions")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token()))
            .header(header::CONTENT_TYPE, "application/json")
            .extension(InProcess { streamed })
            .body(Body::from(serde_json::to_vec(body)?))?;
        let response = self.router().oneshot(request).await?;
        let status = response.status();
        let kind = response.headers().get(header::CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind == EVENTS);
        let body = to_bytes(response.into_body(), MAX_ANSWER).await;
        let body = body.context("the gateway's answer broke off")?;
        if status.is_success() {
            return Ok(Ok((ChatAnswer::parse(&body), is_stream)));
        }
        Ok(Err((status, String::from_utf8_lossy(&body).into_owned())))
    }

    /// Returns when the step cannot continue.
    pub async fn stopped(&self) -> StopReason {
        let config = &self.state.config;
        let own = async {
            match &config.evolution_ledger {
                Some(ledger) => ledger.spent().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.state.stopped.cancelled() => {
                let trouble = self.state.totals().trouble.clone();
                StopReason::Provider(trouble.unwrap_or_default())
            }
            reached = config.ledger.spent() => StopReason::Budget(reached),
            reached = own => StopReason::EvolutionBudget(reached),
        }
    }

    /// For how long the last request has been unanswered at the end of the agent's
    /// time, if one is.
    ///
    /// # Errors
    /// Why the provider is to blame: it leaves the platform's own request unanswered too,
    /// or lets it wait where the agent's may have waited as well.
    pub async fn unanswered(&self) -> Result<Option<Duration>, String> {
        let (since, is_whole) = {
            let totals = self.state.totals();
            if totals.under_way() == 0 {
                return Ok(None);
            }
            let since = totals.last_arrived.map(|at| at.elapsed());
            (since, totals.last_is_whole)
        };
        // Some models think for long before each first word.
        let queue = self.state.known.fastest() + self.state.gateway.inner.retry_policy.queue;
        let unable = match self.state.probe().await {
            Ok(first) if is_whole && first >= queue => {
                format!("no part of an answer within {} s", first.as_secs())
            }
            Ok(_) => return Ok(since),
            Err(unable) => unable,
        };
        Err(format!(
            "the agent's time ended while a request was unanswered; a request of the platform's own: {unable}"
        ))
    }

    /// Cancels active exchanges, for a step that is aborted.
    pub fn cut(&self) {
        self.state.closed.cancel();
    }

    /// Stops accepting requests, waits a short time for active exchanges, and
    /// returns the account.
    pub async fn close(mut self) -> Account {
        self.stop_accepting();
        let done = tokio::time::timeout(CLOSE_GRACE, self.state.tasks.wait()).await;
        if done.is_err() {
            self.state.closed.cancel();
            // Cancelled exchanges still record what they know.
            let _ = tokio::time::timeout(CLOSE_GRACE, self.state.tasks.wait()).await;
        }
        let state = self.state.clone();
        // From here on the account is the caller's.
        *state.keeping.lock().await = None;
        // Hundreds of megabytes at most: read off the runtime and the lock.
        let mut recorder = std::mem::take(&mut state.totals().recorder);
        let recording = blocking(move || recorder.take()).await;
        let recording = recording.unwrap_or_else(|error| {
            tracing::warn!("cannot read a recording back: {error:#}");
            None
        });
        let (usage, traffic) = state.taken();
        let mut totals = state.totals();
        Account {
            usage,
            traffic,
            trouble: totals.trouble.take(),
            truncation: totals.truncation.take(),
            refused_tools: std::mem::take(&mut totals.refused_tools),
            recording,
        }
    }

    /// Removes the socket and accepts no further requests.
    fn stop_accepting(&mut self) {
        if let Some((socket, server, _)) = self.listening.take() {
            let _ = fs::remove_file(socket);
            server.abort();
        }
        self.state.tasks.close();
    }
}

impl Drop for GatewaySession {
    fn drop(&mut self) {
        self.stop_accepting();
        self.state.closed.cancel();
        // An exchange that ends later may belong to no attempt of this process any more.
        if let Ok(mut store) = self.state.keeping.try_lock() {
            *store = None;
        }
    }
}

fn listen(
    socket_mount: &SocketMount,
    state: &Arc<SessionState>,
) -> anyhow::Result<(PathBuf, AbortHandle, SocketMount)> {
    let socket = socket_mount.path().join(SOCKET);
    let listener = bind(socket_mount)
        .with_context(|| format!("cannot open the gateway's socket {}", socket.display()))?;
    // Clients must send the token; the parent folder keeps out other users of
    // this machine.
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666))?;
    let router = server::router(state.clone());
    let (limits, closed) = (ConnectionLimits::default(), state.closed.clone());
    let server = tokio::spawn(connections::serve(listener, router, limits, closed));
    Ok((socket, server.abort_handle(), socket_mount.clone()))
}

/// Binds the socket. A socket's address is limited to 107 bytes and data folders
/// may be deep; the path through an open folder descriptor is always short.
fn bind(socket_mount: &SocketMount) -> std::io::Result<UnixListener> {
    use std::os::fd::AsRawFd;
    let direct = socket_mount.path().join(SOCKET);
    if direct.as_os_str().len() < 100 {
        return UnixListener::bind(direct);
    }
    let folder = fs::File::open(socket_mount.path())?;
    UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()))
}

fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system has no randomness")?;
    Ok(format!("swe-ci-{}", swe_ci_base::digest::hex(&bytes)))
}
