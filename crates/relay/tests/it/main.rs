//! The relay, seen from a client, with an echoing gateway.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(10);

struct Relay {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Relay {
    fn start() -> Self {
        let started_at = Instant::now();
        loop {
            let mut relay = Self::at(port());
            while relay.child.try_wait().unwrap().is_none() {
                if TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port)).is_ok() {
                    return relay;
                }
                assert!(started_at.elapsed() < TIMEOUT, "the relay does not listen");
                thread::yield_now();
            }
            // Another process has the port.
            assert!(started_at.elapsed() < TIMEOUT, "the relay finds no port");
        }
    }

    fn at(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = command()
            .arg(port.to_string())
            .arg(folder.path().join("gateway.sock"))
            .spawn()
            .unwrap();
        Self {
            child,
            port,
            folder,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("gateway.sock")
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_swe-ci-relay"))
}

/// A port for each relay, below the system's ephemeral ports. Reserving an
/// ephemeral port and releasing it is not reliable: a process that another
/// thread is just starting inherits the socket for a moment.
/// just being started elsewhere in this program holds on to it for a moment.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = u16::try_from(std::process::id() % 1_000).unwrap() * 10;
    20_000 + base + NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Handles every connection with `answer`, each in its own thread.
fn gateway(socket: &Path, answer: impl Fn(UnixStream) + Clone + Send + 'static) {
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = answer.clone();
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
}

fn echo(mut stream: UnixStream) {
    std::io::copy(&mut stream.try_clone().unwrap(), &mut stream).unwrap();
}

#[test]
fn two_hundred_connections_at_once() {
    let relay = Relay::start();
    gateway(&relay.socket(), echo);
    let mut clients: Vec<TcpStream> = (0..200).map(|_| relay.connect()).collect();
    for round in 0..3 {
        for (i, client) in clients.iter_mut().enumerate() {
            write!(client, "{round} from {i:>8}").unwrap();
        }
        for (i, client) in clients.iter_mut().enumerate() {
            let expect = format!("{round} from {i:>8}");
            let mut echoed = vec![0; expect.len()];
            client.read_exact(&mut echoed).unwrap();
            assert_eq!(String::from_utf8(echoed).unwrap(), expect);
        }
    }
}

#[test]
fn one_connection_too_many_waits_for_a_permit() {
    let relay = Relay::start();
    gateway(&relay.socket(), echo);
    let mut clients: Vec<TcpStream> = (0..256).map(|_| relay.connect()).collect();
    let exchange = |client: &mut TcpStream| {
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
    };
    clients.iter_mut().for_each(exchange);
    let mut extra = relay.connect();
    extra.write_all(b"y").unwrap();
    extra
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    assert!(extra.read(&mut [0]).is_err(), "it did not wait");
    clients.pop();
    extra.set_read_timeout(Some(TIMEOUT)).unwrap();
    extra.read_exact(&mut [0]).unwrap();
}

#[test]
fn either_side_may_end_before_the_other() {
    let relay = Relay::start();
    // Reads to the end before it answers.
    gateway(&relay.socket(), |mut stream| {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        write!(stream, "{} bytes", text.len()).unwrap();
    });
    let mut client = relay.connect();
    client.write_all(&[b'x'; 1 << 20]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "1048576 bytes");
}

#[test]
fn the_gateway_notices_a_client_that_disconnects() {
    let relay = Relay::start();
    let (sender, receiver) = std::sync::mpsc::channel();
    // Streams forever, like a response that the client no longer wants.
    gateway(&relay.socket(), move |mut stream| {
        while stream.write_all(&[b'x'; 1 << 10]).is_ok() {}
        sender.send(()).unwrap();
    });
    let mut client = relay.connect();
    client.read_exact(&mut [0; 100]).unwrap();
    drop(client);
    receiver.recv_timeout(TIMEOUT).unwrap();
}

#[test]
fn without_a_gateway_the_connection_is_closed() {
    let relay = Relay::start();
    // Closed normally or reset: either way no bytes arrive.
    let unanswered = || relay.connect().read(&mut [0]).unwrap_or(0);
    assert_eq!(unanswered(), 0);
    gateway(&relay.socket(), echo);
    let mut client = relay.connect();
    client.write_all(b"x").unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 1);
    std::fs::remove_file(relay.socket()).unwrap();
    assert_eq!(unanswered(), 0);
}

#[test]
fn wrong_usage_is_reported() {
    let holder = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let used_port = holder.local_addr().unwrap().port().to_string();
    let check = |arguments: &[&str], code: i32, expect: &str| {
        let output = command()
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?} → {stderr}");
        assert!(stderr.contains(expect), "{arguments:?} → {stderr}");
    };
    check(&[], 2, "usage: swe-ci-relay PORT SOCKET");
    check(&["70000", "/s"], 2, "usage");
    check(&["80", "/s", "more"], 2, "usage");
    check(&[&used_port, "/s"], 1, "cannot listen on port");
}
