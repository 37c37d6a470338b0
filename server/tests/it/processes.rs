//! Servers as processes: starting, conflicting, stopping.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::cli::{program, stderr};
use crate::fixture::{MODEL, seeded_data, site};

const PATIENCE: Duration = Duration::from_secs(30);

/// A server on a port of its own; killed when dropped.
struct Server {
    child: Child,
    address: String,
    log: Receiver<String>,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (send, log) = channel();
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        let mut server = Self {
            child,
            address: String::new(),
            log,
        };
        let line = server.wait_for("serving at http://");
        let (_, rest) = line.split_once("http://").unwrap();
        server.address = rest.split_whitespace().next().unwrap().to_owned();
        server
    }

    /// The first later line of the log with `text` in it.
    fn wait_for(&self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while let Ok(line) = self
            .log
            .recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        panic!("no line with {text:?} in {seen:#?}");
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    fn exit_code(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            pause();
        }
        panic!("it does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output of a server that cannot start; one that starts all the same is
/// killed, so that the test fails instead of waiting for ever.
fn refused(command: &mut Command) -> String {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
        }
        pause();
    }
    let output = child.wait_with_output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    message
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no runtime here to be in the way of"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}

fn serve(folder: &Path) -> Command {
    let mut command = program();
    command.arg("serve").arg("--data").arg(folder.join("data"));
    command.arg("--site").arg(site(folder));
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_in_time_with_a_stream_open() {
    let folder = tempfile::tempdir().unwrap();
    seeded_data(folder.path()).await;
    // No workers: the seeded runs have no real code.
    let mut server = Server::start(serve(folder.path()).args(["--workers", "0"]));
    let mut idle = server.ask("/health/live");
    let mut stream = server.ask(&format!("/api/v1/runs/{MODEL}/events"));
    for (connection, status) in [(&mut idle, "200 OK"), (&mut stream, "200 OK")] {
        let mut head = [0; 256];
        let read = connection.read(&mut head).unwrap();
        assert!(String::from_utf8_lossy(&head[..read]).contains(status));
    }
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    let log: Vec<_> = server.log.iter().collect();
    let logged = |text: &str| log.iter().any(|line| line.contains(text));
    assert!(
        logged("stopped") && !logged("did not end in time"),
        "{log:#?}"
    );
}

/// The second server changes nothing: the link of the first one stays good.
#[test]
fn a_second_server_on_a_data_folder_leaves_the_first_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Server::start(serve(folder.path()).stdout(Stdio::piped()));
    let printed = BufReader::new(first.child.stdout.take().unwrap()).lines();
    let mut printed = printed.map_while(Result::ok);
    let link = printed.find(|line| line.contains("/invitation/")).unwrap();
    let mut second = serve(folder.path());
    let message = refused(second.args(["--listen", "127.0.0.1:0"]));
    for part in [
        "another swe-ci process works on the data folder",
        "--workers 0",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.contains("a link to create"), "{message}");
    assert!(!message.contains("serving at"), "{message}");
    let (_, secret) = link.split_once("/invitation/").unwrap();
    let mut head = [0; 15];
    let mut page = first.ask(&format!("/invitation/{secret}"));
    page.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    first.signal("INT");
    assert_eq!(first.exit_code(), Some(0));
}

#[test]
fn a_port_in_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    let message = refused(serve(folder.path()).args(["--listen", &address]));
    for part in [&*address, "another program", "SWE_CI_LISTEN"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!folder.path().join("data").exists(), "nothing was touched");
}

#[test]
fn an_unusable_data_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), "not a folder").unwrap();
    let message = refused(serve(folder.path()).args(["--listen", "127.0.0.1:0"]));
    assert!(
        message.contains("data") && message.contains("SWE_CI_DATA"),
        "{message}"
    );
}

#[test]
fn a_missing_site_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let message = refused(program().arg("serve").arg("--site").arg(&nowhere));
    for part in [
        "nowhere",
        "--site",
        "make run",
        "cargo run -p xtask -- site",
        "SWE_CI_SITE",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_failing_demo_leaves_the_server_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve(folder.path());
    // A missing engine, and an index that does not answer.
    command.env("DOCKER_HOST", "tcp://127.0.0.1:9");
    let mut server =
        Server::start(command.args(["--demo", "--package-index", "http://127.0.0.1:9/simple"]));
    let line = server.wait_for("the demo split could not be prepared");
    assert!(
        line.contains("ERROR") && line.contains("swe-ci doctor"),
        "{line}"
    );
    let mut answer = [0; 15];
    server.ask("/api/v1/runs").read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    let mut answer = [0; 12];
    server.ask("/health/ready").read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 503");
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
}
