//! The limits of foreign code in a container, probed from inside: the tests of
//! a task probe their surroundings, and the import reports which of them
//! passed.

use swe_ci_engine::testing::TinyTask;
use swe_ci_views::view::TaskState;

use crate::fixture::Fixture;

const LOOK_AROUND: &str = r#"
import os, pathlib, resource, socket
import pytest

def first_of(*paths):
    for path in map(pathlib.Path, paths):
        if path.exists():
            return path.read_text().strip()
    raise AssertionError(paths)

def status(field):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(field + ":"))

def test_only_loopback():
    assert [name for _, name in socket.if_nameindex()] == ["lo"]

def test_loopback_works():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()

def test_localhost_resolves():
    addresses = {address[4][0] for address in socket.getaddrinfo("localhost", 80)}
    assert "127.0.0.1" in addresses
    assert socket.getaddrinfo("ip6-localhost", 80)

@pytest.mark.parametrize("address", ["172.17.0.1", "169.254.169.254", "192.0.2.1"])
def test_nothing_is_reached(address):
    with pytest.raises(OSError):
        socket.create_connection((address, 80), timeout=5)

def test_no_name_resolves():
    with pytest.raises(OSError):
        socket.getaddrinfo("localhost.example", 80)

def test_no_capabilities():
    assert int(status("CapEff"), 16) == 0 and int(status("CapBnd"), 16) == 0

def test_no_new_privileges():
    assert status("NoNewPrivs") == "1"

def test_memory_is_limited():
    limit = first_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    assert int(limit) == 4096 * 1024 * 1024

def test_processes_are_limited():
    assert int(first_of("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max")) == 1024

def test_files_are_limited():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 4096 * 1024 * 1024

def test_no_engine_socket_and_no_git():
    assert not os.path.exists("/var/run/docker.sock")
    assert not os.path.exists("/app/code/.git")
"#;
const TESTS: u32 = 13;

#[tokio::test(flavor = "multi_thread")]
async fn a_container_is_closed() {
    let fixture = Fixture::new().await;
    let base: &[(&str, &str)] = &[("a.py", "0\n"), ("tests/test_look.py", LOOK_AROUND)];
    let target: &[(&str, &str)] = &[("a.py", "1\n"), ("tests/test_look.py", LOOK_AROUND)];
    let task = TinyTask {
        name: "looks-around",
        versions: &[base, target],
    };
    let imported = fixture.import(&[task]).await.unwrap();
    let task = &imported.tasks[0];
    assert_eq!(task.state, TaskState::Ready);
    assert_eq!(
        task.target_passed, TESTS,
        "a test that looks around failed: {task:?}"
    );
}
