//! A scripted LLM for tests of the whole system: a server that answers as a
//! provider would, in any of the four protocols, so that real agent programs
//! carry out a script with their own tools.
//!
//! Nothing is kept of a conversation. Which turn it is at is read from the
//! answers it contains, so parallel evolutions and retries do not disturb each
//! other.

mod answer;
mod asked;
mod hands;
mod player;
mod schema;
mod script;
mod server;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use script::{Conversation, Fault, MARKERS, Script, Turn, usage};

use server::Server;

/// The server at work; dropping it stops it.
#[derive(Debug)]
pub struct ScriptedLlm {
    address: SocketAddr,
    server: Arc<Server>,
    _stop: DropGuard,
}

/// What was asked, whatever it was answered.
#[derive(Debug, Clone)]
pub struct Seen {
    /// None when the path belongs to no protocol.
    pub protocol: Option<Protocol>,
    pub path: String,
    pub model: String,
    /// The key that was given, right or wrong. Keys of tests are no secrets.
    pub key: Option<String>,
    /// Who asked, and how many answers it had had; none when this was not about
    /// its work.
    pub turn: Option<(Role, usize)>,
    /// Null when it was not JSON.
    pub body: Value,
}

impl ScriptedLlm {
    /// # Errors
    /// When there is no port to listen on.
    pub async fn start(script: Script, key: &str) -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = Arc::new(Server::new(script, key));
        let stop = CancellationToken::new();
        tokio::spawn(Arc::clone(&server).serve(listener, stop.clone()));
        Ok(Self {
            address,
            server,
            _stop: stop.drop_guard(),
        })
    }

    /// Where a protocol is spoken, as an `Endpoint` says it.
    #[must_use]
    pub fn url(&self, protocol: Protocol) -> String {
        let version = match protocol {
            Protocol::Gemini => "v1beta",
            _ => "v1",
        };
        format!("http://{}/{version}", self.address)
    }

    /// Everything that was asked so far, in the order of arrival.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.server.seen()
    }

    /// The first `n` requests with the right key that come from now on go
    /// wrong, before the script is looked at. May be called several times, for
    /// what comes after those.
    pub fn fault_first(&self, n: usize, fault: Fault) {
        self.server.add_faults(n, fault);
    }
}
