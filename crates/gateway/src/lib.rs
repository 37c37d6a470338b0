//! The LLM gateway: the only service an agent's container can reach.
//!
//! ```text
//! harness ─▶ 127.0.0.1 ─▶ relay ─▶ Unix socket ─▶ gateway ─▶ provider
//! └────────── container, no network ──────────┘   │ key, model name, parameters
//!                                                  │ counts, budget, retries
//!                                                  └ recording
//! ```
//!
//! A [`SocketMount`] is a folder mounted into one container. While a step runs
//! there, the folder contains the socket of a [`GatewaySession`], which accepts
//! only the token of that step. The gateway streams conversations through in
//! their own protocol.
//!
//! An exchange that comes to nothing is tried again; then `probe.rs` decides by an
//! experiment whether the provider or the request is at fault. `concurrency.rs` limits
//! the concurrent requests per provider.

pub mod trajectory;

mod active_exchange;
mod allowed_addresses;
mod budget_ledger;
mod chat_answer;
mod concurrency;
mod connections;
mod judging;
mod model_list;
mod probe;
mod probe_results;
mod protocol;
mod provider_request;
mod receive;
mod recording;
mod replay;
mod reply;
mod response_timeout;
mod server;
mod session;
mod session_state;
mod sse;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod unpacking;

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

pub use allowed_addresses::{client_within, refusal, refused_by_name};
pub use budget_ledger::{Ledger, Ledgers, SharedAccount, Spent};
pub use chat_answer::ChatAnswer;
pub use protocol::read_json;
pub use recording::{Exchange, Lines};
pub use replay::Recording;
pub use session::{GatewaySession, SessionConfig, StopReason, UsageStore, Waiting};
pub use sse::Splitter;

use concurrency::ConcurrencyLimiters;

use swe_ci_base::tls::http_client;
use swe_ci_core::permissions::Reach;

/// The socket mount's path inside a container.
pub const INSIDE: &str = "/run/swe-ci";
/// The command that starts the relay in a container: program, port, socket.
pub const RELAY_COMMAND: [&str; 3] = ["/run/swe-ci/relay", "41414", "/run/swe-ci/gateway.sock"];
/// The gateway's address inside a container.
pub const ADDRESS: &str = "http://127.0.0.1:41414";

pub const SOCKET: &str = "gateway.sock";
/// Drives an agent program by the Agent Client Protocol, in a container; see
/// `acp/`.
pub const ACP_DRIVER: &str = "/run/swe-ci/acp";

/// The programs in a socket mount. The relay forwards the port to the socket;
/// see `relay/`.
const PROGRAMS: [(&str, &[u8]); 2] = [
    ("acp", include_bytes!(concat!(env!("OUT_DIR"), "/acp"))),
    ("relay", include_bytes!(concat!(env!("OUT_DIR"), "/relay"))),
];

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Connects to any address.
    client: reqwest::Client,
    /// Connects only to public addresses.
    public_client: reqwest::Client,
    limiters: ConcurrencyLimiters,
    probes: probe_results::ProviderRecords,
    retry_policy: RetryPolicy,
}

/// When the gateway retries, and what the harness sees meanwhile.
#[derive(Debug, Clone, Copy)]
struct RetryPolicy {
    /// The interval of keep-alive bytes to the harness while the gateway retries.
    keep_alive: Duration,
    /// The pause before the first retry; doubled for each further one, up to a
    /// minute. A provider's `Retry-After` takes precedence.
    first_pause: Duration,
    /// A provider that says nothing to the probe for longer is in trouble.
    probe_limit: Duration,
    /// After its patience, a provider that answers others may be silent about a request
    /// for so long at least until it is sent again; the agent's clock runs. Twice as
    /// long each time, up to ten times.
    longest_silence: Duration,
    /// A provider has a queue if it has nothing of the probe's one word for so much longer
    /// than its fastest answer took.
    queue: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_secs(15),
            first_pause: Duration::from_secs(1),
            probe_limit: Duration::from_mins(2),
            longest_silence: Duration::from_mins(1),
            queue: Duration::from_secs(10),
        }
    }
}

impl Gateway {
    /// `folder` is an absolute path that nothing else uses.
    pub fn new(folder: PathBuf) -> anyhow::Result<Self> {
        Self::with_retry_policy(folder, RetryPolicy::default())
    }

    fn with_retry_policy(folder: PathBuf, retry_policy: RetryPolicy) -> anyhow::Result<Self> {
        let make = |reach| {
            // A redirect could send the key to any address.
            let client = client_within(reach, http_client())
                .redirect(reqwest::redirect::Policy::none())
                // It knows one of the two formats that have this name.
                .no_deflate()
                .connect_timeout(Duration::from_secs(30));
            client.build().context("cannot make an HTTP client")
        };
        Ok(Self {
            inner: Arc::new(Inner {
                folder,
                client: make(Reach::Anywhere)?,
                public_client: make(Reach::Public)?,
                limiters: ConcurrencyLimiters::default(),
                probes: probe_results::ProviderRecords::default(),
                retry_policy,
            }),
        })
    }

    fn client(&self, reach: Reach) -> &reqwest::Client {
        match reach {
            Reach::Anywhere => &self.inner.client,
            Reach::Public => &self.inner.public_client,
        }
    }

    /// Removes the leftovers of a previous process.
    pub fn sweep(&self) -> anyhow::Result<()> {
        match fs::remove_dir_all(&self.inner.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot empty {}", self.inner.folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// A socket mount for a new container, with its programs. Blocks on the file
    /// system.
    pub fn socket_mount(&self) -> anyhow::Result<SocketMount> {
        let folder = self.inner.folder.join(uuid::Uuid::now_v7().to_string());
        let programs = self.programs()?;
        // Root in a container has no special rights on an ordinary user's
        // files, so the folder is open to all; its parent keeps other users out.
        let make = || {
            fs::create_dir(&folder)?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
            for (name, program) in &programs {
                let inside = folder.join(name);
                fs::hard_link(program, &inside)
                    .or_else(|_| fs::copy(program, &inside).map(drop))?;
            }
            std::io::Result::Ok(())
        };
        make().with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(SocketMount(Arc::new(OwnFolder(folder))))
    }

    /// The gateway's folder. It contains recordings and sockets, so other users
    /// of this machine have no access.
    fn folder(&self) -> anyhow::Result<&Path> {
        let folder = &self.inner.folder;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// The programs of a socket mount as files, by name, each written once.
    fn programs(&self) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
        let folder = self.folder()?;
        let written = |(name, program): (&'static str, &[u8])| {
            let path = folder.join(name);
            if !path.exists() {
                write_program(&path, program)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            Ok((name, path))
        };
        PROGRAMS.into_iter().map(written).collect()
    }
}

/// Complete from the moment it exists, since others may wait for it.
fn write_program(path: &Path, program: &[u8]) -> std::io::Result<()> {
    let partial = path.with_extension(uuid::Uuid::now_v7().to_string());
    fs::write(&partial, program)?;
    fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
    fs::rename(&partial, path)
}

/// A folder to mount into one container. Dropping the last clone removes it.
#[derive(Debug, Clone)]
pub struct SocketMount(Arc<OwnFolder>);

impl SocketMount {
    pub fn path(&self) -> &Path {
        &self.0.0
    }
}

#[derive(Debug)]
struct OwnFolder(PathBuf);

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(folder = %self.0.display(), %error, "socket mount not removed");
        }
    }
}
