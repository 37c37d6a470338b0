//! The relay with a gateway that echoes: what a client sees of it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

struct Relay {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Relay {
    fn start() -> Self {
        let begun = Instant::now();
        loop {
            let mut relay = Self::at(port());
            while relay.child.try_wait().unwrap().is_none() {
                if TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port)).is_ok() {
                    return relay;
                }
                assert!(begun.elapsed() < PATIENCE, "the relay does not listen");
                thread::yield_now();
            }
            // Somebody else has the port.
            assert!(begun.elapsed() < PATIENCE, "the relay finds no port");
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
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_swe-ci-relay"))
}

/// A port of its own for every relay, below those that the system gives away.
/// To have it give one away and let go of it would not do: a process that is
/// just being started elsewhere in this program holds on to it for a moment.
fn port() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    let of_process = u16::try_from(std::process::id() % 1_000).unwrap() * 10;
    20_000 + of_process + GIVEN.fetch_add(1, Ordering::Relaxed)
}

/// Answers every connection by `answer`, each in a thread of its own.
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
            let mut found = vec![0; expect.len()];
            client.read_exact(&mut found).unwrap();
            assert_eq!(String::from_utf8(found).unwrap(), expect);
        }
    }
}

#[test]
fn one_connection_too_many_waits_for_a_place() {
    let relay = Relay::start();
    gateway(&relay.socket(), echo);
    let mut clients: Vec<TcpStream> = (0..256).map(|_| relay.connect()).collect();
    let speak = |client: &mut TcpStream| {
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
    };
    clients.iter_mut().for_each(speak);
    let mut late = relay.connect();
    late.write_all(b"y").unwrap();
    late.set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    assert!(late.read(&mut [0]).is_err(), "it was not made to wait");
    clients.pop();
    late.set_read_timeout(Some(PATIENCE)).unwrap();
    late.read_exact(&mut [0]).unwrap();
}

#[test]
fn either_side_may_end_before_the_other() {
    let relay = Relay::start();
    // Reads to the end, and only then answers.
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
fn a_client_that_goes_away_is_known_to_the_gateway() {
    let relay = Relay::start();
    let (gone, heard) = std::sync::mpsc::channel();
    // Streams for ever, as an answer does that nobody waits for any more.
    gateway(&relay.socket(), move |mut stream| {
        while stream.write_all(&[b'x'; 1 << 10]).is_ok() {}
        gone.send(()).unwrap();
    });
    let mut client = relay.connect();
    client.read_exact(&mut [0; 100]).unwrap();
    drop(client);
    heard.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn without_a_gateway_the_connection_is_closed() {
    let relay = Relay::start();
    // Closed in good order or reset: either way nothing comes.
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
fn it_says_how_it_is_used() {
    let holder = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let taken = holder.local_addr().unwrap().port().to_string();
    let check = |arguments: &[&str], code: i32, expect: &str| {
        let output = command()
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?} → {said}");
        assert!(said.contains(expect), "{arguments:?} → {said}");
    };
    check(&[], 2, "usage: swe-ci-relay PORT SOCKET");
    check(&["70000", "/s"], 2, "usage");
    check(&["80", "/s", "more"], 2, "usage");
    check(&[&taken, "/s"], 1, "cannot listen on port");
}
