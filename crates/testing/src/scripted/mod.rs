//! A scripted LLM for system tests: a server that answers like a provider, in
//! any of the four protocols, so that real agent programs carry out a script
//! with their own tools.
//!
//! The server stores no conversations. It derives the turn from the answers in
//! the request, so parallel evolutions and retries do not interfere.

mod answer;
mod faults;
mod player;
mod request;
mod schema;
mod script;
mod server;
#[cfg(test)]
mod tests;
mod tool_calls;
mod tools;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;
use swe_ci_core::usage::Usage;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use faults::FAULTS;
pub use script::{Conversation, Fault, MARKERS, Script, Turn, usage};

use server::Server;

/// The running server; dropping it stops it.
#[derive(Debug)]
pub struct ScriptedLlm {
    address: SocketAddr,
    server: Arc<Server>,
    _stop: DropGuard,
}

/// A request the server received, whatever the answer.
#[derive(Debug, Clone)]
pub struct Seen {
    /// None if the path belongs to no protocol.
    pub protocol: Option<Protocol>,
    pub path: String,
    pub model: String,
    /// The key in the request, right or wrong. Test keys are not secret.
    pub key: Option<String>,
    pub headers: axum::http::HeaderMap,
    /// The agent's role, and how many answers it had got; none for side requests.
    pub turn: Option<(Role, usize)>,
    /// Null if it was not JSON.
    pub body: Value,
}

impl ScriptedLlm {
    /// # Errors
    /// The server cannot listen on a port.
    pub async fn start(script: Script, key: &str) -> std::io::Result<Self> {
        Self::start_at(Ipv4Addr::LOCALHOST.into(), script, key).await
    }

    /// The same at another address of this machine.
    ///
    /// # Errors
    /// The server cannot listen on a port there.
    pub async fn start_at(at: IpAddr, script: Script, key: &str) -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind((at, 0)).await?;
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

    /// The address of a protocol, for an `Endpoint`.
    pub fn url(&self, protocol: Protocol) -> String {
        let version = match protocol {
            Protocol::Gemini => "v1beta",
            _ => "v1",
        };
        format!("http://{}/{version}", self.address)
    }

    /// All requests so far, in the order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.server.seen()
    }

    /// The tokens of all answers to agents whose counts can be read.
    pub fn sent(&self) -> Usage {
        self.server.sent()
    }

    /// Lets go of faults that have not happened yet.
    pub fn forget_faults(&self) {
        self.server.forget_faults();
    }

    /// Makes requests with the right key fail as this decides, without consulting the
    /// script. Faults of [`Self::fault_first`] come before.
    pub fn fault_when(&self, decide: impl Fn(&Seen) -> Option<Fault> + Send + Sync + 'static) {
        self.server.decide_faults(Box::new(decide));
    }

    /// Makes the next `n` requests with the right key fail, without consulting the
    /// script. Further calls apply to the requests after those.
    pub fn fault_first(&self, n: usize, fault: Fault) {
        self.server.add_faults(n, fault);
    }
}
