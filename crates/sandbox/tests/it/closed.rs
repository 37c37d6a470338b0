//! A container from inside: it is closed.

use std::process::Command;

use crate::trial::{Trial, run};
use swe_ci_core::run::Limits;
use swe_ci_sandbox::Exit;

/// Prints what should not be so.
const LOOK_AROUND: &str = r#"
import ctypes, os, pathlib, socket

def check(what, holds):
    if not holds:
        print(what, flush=True)

def fails(action):
    try:
        action()
    except OSError:
        return True
    return False

status = dict(line.split(":\t", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
check("capabilities", int(status["CapEff"], 16) == 0 and int(status["CapPrm"], 16) == 0)
check("new privileges", status["NoNewPrivs"] == "1")
check("all system calls", status["Seccomp"] == "2")
check("a network", [name for _, name in socket.if_nameindex()] == ["lo"])
for address in ("172.17.0.1", "169.254.169.254", "192.0.2.1", "8.8.8.8"):
    check(address, fails(lambda: socket.create_connection((address, 80), timeout=2)))
check("names", fails(lambda: socket.getaddrinfo("localhost.example", 80)))
check("no localhost", socket.getaddrinfo("localhost", 80) and socket.getaddrinfo("ip6-localhost", 80))
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname(), timeout=5).close()

libc = ctypes.CDLL(None, use_errno=True)
check("new namespaces", libc.unshare(0x10000000) == -1)
check("mounts", libc.mount(b"none", b"/mnt", b"tmpfs", 0, None) == -1)
check("ptrace", libc.ptrace(16, 1, 0, 0) == -1)
check("vsock", fails(lambda: socket.socket(40, socket.SOCK_STREAM)))

numbers = [name for name in os.listdir("/proc") if name.isdigit()]
check("many processes", len(numbers) < 10)
for number in numbers:
    for file in ("cmdline", "environ"):
        try:
            text = pathlib.Path("/proc", number, file).read_bytes()
        except OSError:
            continue
        for secret in (b"4242424242", b"hunter2", b"XDG_RUNTIME_DIR", b"CARGO"):
            check(f"{secret} in {file} of {number}", secret not in text or b"python" in text)
environment = sorted(os.environ)
check(f"environment {environment}", "GREETING" in environment and not {"CARGO", "USER", "XDG_RUNTIME_DIR"} & set(environment))
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/etc/hosts/x"):
    check(path, fails(lambda: open(path, "w")))
for path in ("/var/run/docker.sock", "/run/podman/podman.sock", "/app/code/.git"):
    check(path, not os.path.exists(path))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leads_out() {
    let trial = Trial::new().await;
    let mut host = Command::new("sleep").arg("4242424242").spawn().unwrap();
    let container = trial.container(Limits::default()).await;
    // The first command may be process 1's, a later one is not.
    let mut found = Vec::new();
    for _ in 0..2 {
        found.push(run(container.as_ref(), &["python3", "-c", LOOK_AROUND]).await);
    }
    host.kill().unwrap();
    host.wait().unwrap();
    for found in found {
        assert_eq!(found, (Exit::Code(0), String::new()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mounted_folder_is_read_only() {
    let trial = Trial::new().await;
    let folder = trial.folder.path().join("mounted");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("file"), "text").unwrap();
    let container = trial.with_folder(folder.clone()).await;
    let script = "cat /run/swe-ci/file; echo more > /run/swe-ci/file; touch /run/swe-ci/new; \
        rm /run/swe-ci/file; mount -o remount,rw /run/swe-ci";
    let (exit, printed) = run(container.as_ref(), &["sh", "-c", script]).await;
    // Its errors may come first.
    assert!(printed.contains("text"), "{printed}");
    assert_ne!(exit, Exit::Code(0));
    assert_eq!(
        std::fs::read_to_string(folder.join("file")).unwrap(),
        "text"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}
