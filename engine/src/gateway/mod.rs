//! The LLM gateway: the one thing an agent's container can reach.
//!
//! ```text
//! harness ─▶ 127.0.0.1 ─▶ relay ─▶ Unix socket ─▶ gateway ─▶ provider
//! └────────── container, no network ──────────┘   │ key, model name, parameters
//!                                                  │ counts, budget, patience
//!                                                  └ recording
//! ```
//!
//! A [`Hatch`] is a folder mounted into one container. While a step works
//! there, a [`Door`] is open in it: the socket, which answers to the token of
//! that step alone. Conversations pass in the protocol they are in, as they
//! come.

mod ask;
mod door;
mod lanes;
mod ledger;
mod protocol;
mod reach;
mod recording;
mod replay;
mod reply;
mod serve;
mod sse;
mod step;
#[cfg(test)]
mod tests;
mod upstream;

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

pub use door::{Doom, Door, Pass};
pub use ledger::{Ledger, Ledgers};
pub use reach::{client_within, refusal, refused_by_name};
pub use recording::{Exchange, Lines};
pub use replay::Recording;
pub use sse::Splitter;

use lanes::Lanes;

use crate::grant::Reach;

/// Where a container finds its hatch.
pub const INSIDE: &str = "/run/swe-ci";
/// What the relay of a container is told: its port, and the socket.
pub const RELAY_COMMAND: [&str; 3] = ["/run/swe-ci/relay", "41414", "/run/swe-ci/gateway.sock"];
/// The gateway's address as seen from inside.
pub const ADDRESS: &str = "http://127.0.0.1:41414";

pub const SOCKET: &str = "gateway.sock";
const RELAY: &str = "relay";
/// The program that turns the port into the socket; see `relay/`.
const RELAY_PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/relay"));

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Asks whatever it is told to.
    client: reqwest::Client,
    /// Asks the open internet alone.
    public_client: reqwest::Client,
    lanes: Lanes,
    pace: Pace,
}

/// How the gateway deals with time.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How long a harness hears nothing before the gateway says that it is
    /// still there.
    quiet: Duration,
    /// The pause before the provider is asked a second time; doubled from
    /// then on, up to a minute.
    first_pause: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(15),
            first_pause: Duration::from_secs(1),
        }
    }
}

/// The longest a provider may say nothing in the middle of an answer, or
/// before it.
const SILENCE: Duration = Duration::from_mins(10);

impl Gateway {
    /// `folder` is absolute and belongs to the gateway alone.
    pub fn new(folder: PathBuf) -> anyhow::Result<Self> {
        Self::with_pace(folder, Pace::default())
    }

    fn with_pace(folder: PathBuf, pace: Pace) -> anyhow::Result<Self> {
        let make = |reach| {
            // A redirect would carry the key to wherever it points.
            let client = client_within(reach, reqwest::Client::builder())
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(Duration::from_secs(30))
                .read_timeout(SILENCE);
            client.build().context("cannot make an HTTP client")
        };
        Ok(Self {
            inner: Arc::new(Inner {
                folder,
                client: make(Reach::Anywhere)?,
                public_client: make(Reach::Public)?,
                lanes: Lanes::default(),
                pace,
            }),
        })
    }

    fn client(&self, reach: Reach) -> &reqwest::Client {
        match reach {
            Reach::Anywhere => &self.inner.client,
            Reach::Public => &self.inner.public_client,
        }
    }

    /// Removes what a process left behind that is dead.
    pub fn sweep(&self) -> anyhow::Result<()> {
        match fs::remove_dir_all(&self.inner.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot empty {}", self.inner.folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// A hatch for a container to be made, with the relay in it. Blocks for
    /// as long as making a folder takes.
    pub fn hatch(&self) -> anyhow::Result<Hatch> {
        let folder = self.inner.folder.join(uuid::Uuid::now_v7().to_string());
        let relay = self.relay()?;
        // A container's root has no power over an ordinary user's files, so
        // it must be let in; the folder above keeps other users out.
        let make = || {
            fs::create_dir(&folder)?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
            let inside = folder.join(RELAY);
            fs::hard_link(&relay, &inside).or_else(|_| fs::copy(&relay, &inside).map(drop))
        };
        make().with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Hatch(Arc::new(OwnFolder(folder))))
    }

    /// The gateway's own folder. What is in it is said between agents and
    /// models, and sockets: nothing for other users of this machine.
    fn folder(&self) -> anyhow::Result<&Path> {
        let folder = &self.inner.folder;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// The relay as a file, written once.
    fn relay(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder()?;
        let path = folder.join(RELAY);
        if path.exists() {
            return Ok(path);
        }
        let make = || {
            let partial = folder.join(format!("{RELAY}-{}", uuid::Uuid::now_v7()));
            fs::write(&partial, RELAY_PROGRAM)?;
            fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
            fs::rename(&partial, &path)
        };
        make().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// A folder on its way into one container. It is removed with the last clone.
#[derive(Debug, Clone)]
pub struct Hatch(Arc<OwnFolder>);

impl Hatch {
    pub fn path(&self) -> &Path {
        &self.0.0
    }
}

#[derive(Debug)]
struct OwnFolder(PathBuf);

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(folder = %self.0.display(), %error, "hatch not removed");
        }
    }
}
