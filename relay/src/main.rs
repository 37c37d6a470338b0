//! `swe-ci-relay PORT SOCKET`: process 1 of an agent's container.
//!
//! The container has no network, only a loopback of its own. There the relay
//! listens, and it pipes each connection to the Unix socket of the gateway,
//! which is mounted into the container: the one way out. It knows no HTTP and
//! no keys. As process 1 it inherits the orphans of the agent and buries them.
//!
//! The engine carries it as a static program for Linux; see `engine/build.rs`.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{WaitOptions, wait};

/// Connections piped at once; more wait in the listener's queue.
const AT_ONCE: usize = 256;

/// A thread holds one buffer of 8 KiB and little else.
const STACK: usize = 64 << 10;

/// How long process 1 rests when it has nothing to do, or cannot do it.
const REST: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let Some((port, socket)) = arguments(std::env::args_os().skip(1)) else {
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

fn arguments(mut given: impl Iterator<Item = OsString>) -> Option<(u16, PathBuf)> {
    let port = given.next()?.to_str()?.parse().ok()?;
    let socket = given.next()?.into();
    given.next().is_none().then_some((port, socket))
}

fn serve(listener: &TcpListener, socket: &Path) -> ! {
    let places = Places::default();
    thread::scope(|scope| {
        // Without it zombies stay, which is no reason to end.
        let _ = small().spawn_scoped(scope, bury_orphans);
        loop {
            let place = places.take();
            let Ok((client, _)) = listener.accept() else {
                rest();
                continue;
            };
            // Where the container may have no more threads, the connection is
            // closed with the closure that holds it.
            let _ = small().spawn_scoped(scope, move || {
                let _place = place;
                if let Ok(gateway) = UnixStream::connect(socket) {
                    pipe(&client, &gateway);
                }
            });
        }
    })
}

/// Both directions until both have ended.
fn pipe(client: &TcpStream, gateway: &UnixStream) {
    // A streamed answer comes in small pieces, and each is waited for.
    let _ = client.set_nodelay(true);
    let cut = || {
        let _ = client.shutdown(Shutdown::Both);
        let _ = gateway.shutdown(Shutdown::Both);
    };
    thread::scope(|scope| {
        let back = small().spawn_scoped(scope, || match io::copy(&mut &*gateway, &mut &*client) {
            Ok(_) => drop(client.shutdown(Shutdown::Write)),
            Err(_) => cut(),
        });
        match back.and_then(|_| io::copy(&mut &*client, &mut &*gateway)) {
            Ok(_) => drop(gateway.shutdown(Shutdown::Write)),
            Err(_) => cut(),
        }
    });
}

/// Children it never started: what the agent left behind. There is no way to
/// wait for a first child, so it looks again and again.
fn bury_orphans() {
    loop {
        if wait(WaitOptions::empty()).is_err() {
            rest();
        }
    }
}

fn small() -> thread::Builder {
    thread::Builder::new().stack_size(STACK)
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no async runtime here to be held up"
)]
fn rest() {
    thread::sleep(REST);
}

/// Counts the connections there are.
#[derive(Debug, Default)]
struct Places {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// One connection's place; free again when dropped.
#[derive(Debug)]
struct Place<'a>(&'a Places);

impl Places {
    /// Waits until there is one.
    fn take(&self) -> Place<'_> {
        let mut taken = self
            .freed
            .wait_while(self.lock(), |taken| *taken >= AT_ONCE)
            .unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Place(self)
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.freed.notify_one();
    }
}
