//! `swe-ci-relay PORT SOCKET`: process 1 of an agent's container.
//!
//! The container has no network, only its own loopback. The relay listens there
//! and pipes each connection to the gateway's Unix socket, which is mounted
//! into the container: the only way out. It knows neither HTTP nor keys. As
//! process 1 it also reaps the agent's orphaned processes.
//!
//! The gateway embeds it as a static program for Linux; see its `build.rs`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use rustix::process::{WaitOptions, wait};

/// Connections piped at once; further ones wait in the listener's queue.
const MAX_CONNECTIONS: usize = 256;

/// A thread needs one buffer of 8 KiB and little else.
const STACK: usize = 64 << 10;

/// How long a thread sleeps when it has nothing to do, or after an error.
const PAUSE: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let Some((port, socket)) = parse_arguments(std::env::args_os().skip(1)) else {
        eprintln!("usage: swe-ci-relay PORT SOCKET");
        return ExitCode::from(2);
    };
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(listener) => serve(&listener, &socket),
        Err(error) => {
            eprintln!("cannot listen on port {port}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse_arguments(mut arguments: impl Iterator<Item = OsString>) -> Option<(u16, PathBuf)> {
    let port = arguments.next()?.to_str()?.parse().ok()?;
    let socket = arguments.next()?.into();
    arguments.next().is_none().then_some((port, socket))
}

fn serve(listener: &TcpListener, socket: &Path) -> ! {
    let limiter = ConnectionLimiter::default();
    thread::scope(|scope| {
        // Without this thread zombies remain, which is no reason to exit.
        let _ = small_stack_thread().spawn_scoped(scope, reap_children);
        loop {
            let permit = limiter.acquire();
            let Ok((client, _)) = listener.accept() else {
                pause();
                continue;
            };
            // If the container is out of threads, dropping the closure closes
            // the connection.
            let _ = small_stack_thread().spawn_scoped(scope, move || {
                let _permit = permit;
                if let Ok(gateway) = UnixStream::connect(socket) {
                    pipe(&client, &gateway);
                }
            });
        }
    })
}

/// Pipes both directions until both have ended.
fn pipe(client: &TcpStream, gateway: &UnixStream) {
    // A streamed response comes in small pieces, and each must arrive at once.
    let _ = client.set_nodelay(true);
    let shut_down = || {
        let _ = client.shutdown(Shutdown::Both);
        let _ = gateway.shutdown(Shutdown::Both);
    };
    thread::scope(|scope| {
        let response_thread = small_stack_thread().spawn_scoped(scope, || {
            match io::copy(&mut &*gateway, &mut &*client) {
                Ok(_) => drop(client.shutdown(Shutdown::Write)),
                Err(_) => shut_down(),
            }
        });
        match response_thread.and_then(|_| io::copy(&mut &*client, &mut &*gateway)) {
            Ok(_) => drop(gateway.shutdown(Shutdown::Write)),
            Err(_) => shut_down(),
        }
    });
}

/// Reaps children that this program did not start: the agent's orphans. Waiting
/// for a first child is impossible, so it polls.
fn reap_children() {
    loop {
        if wait(WaitOptions::empty()).is_err() {
            pause();
        }
    }
}

fn small_stack_thread() -> thread::Builder {
    thread::Builder::new().stack_size(STACK)
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no async runtime here to block"
)]
fn pause() {
    thread::sleep(PAUSE);
}

#[derive(Debug, Default)]
struct ConnectionLimiter {
    connections: Mutex<usize>,
    freed: Condvar,
}

/// The right to one connection; dropping it frees it.
#[derive(Debug)]
struct Permit<'a>(&'a ConnectionLimiter);

impl ConnectionLimiter {
    fn acquire(&self) -> Permit<'_> {
        let mut connections = self
            .freed
            .wait_while(self.lock(), |connections| *connections >= MAX_CONNECTIONS)
            .unwrap_or_else(PoisonError::into_inner);
        *connections += 1;
        Permit(self)
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.freed.notify_one();
    }
}
