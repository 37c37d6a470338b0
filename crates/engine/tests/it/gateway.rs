//! An agent's program can reach the gateway, and nothing else. A harness that
//! probes its surroundings instead of working reports what it found.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use swe_ci_core::agent::Protocol;
use swe_ci_core::run::HarnessConfig;
use swe_ci_core::step::{Ending, Role};
use swe_ci_engine::testing::text_of;
use swe_ci_testing::scripted::{Script, ScriptedLlm};

use crate::agents::{self, KEY, mend_one_by_one};

/// Prints a line `open: …` for everything it reaches besides the gateway, and
/// the gateway's answers.
const LOOK_AROUND: &str = r#"
import errno, json, os, pathlib, socket, stat, urllib.error, urllib.request

HOSTS = HOSTS_HERE
TCP_PORT, UDP_PORT = PORTS_HERE
GATEWAY, TOKEN = os.environ["GATEWAY"], os.environ["TOKEN"]

def tcp(family, address, port):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(2)
        # A socket that happens to take the port it looks for finds itself.
        return s.connect_ex((address, port)) == 0 and s.getsockname() != s.getpeername()

def family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET

print("interfaces:", [name for _, name in socket.if_nameindex()])
for host in HOSTS:
    for port in (TCP_PORT, 22, 53, 80, 443, 2375, 2376, 3000, 5432):
        if tcp(family(host), host, port):
            print("open: tcp", host, port)
    try:
        with socket.socket(family(host), socket.SOCK_DGRAM) as s:
            s.sendto(b"hello", (host, UDP_PORT))
            print("open: udp", host)
    except OSError:
        pass
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            with socket.socket(family(host), kind, socket.IPPROTO_ICMP) as s:
                s.settimeout(1)
                s.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", (host, 0))
                print("open: icmp", host)
        except OSError:
            pass
# Every port of the host, and all there are in here.
for port in range(1, 65536):
    if tcp(socket.AF_INET, HOSTS[0], port):
        print("open: tcp", HOSTS[0], port)
    if tcp(socket.AF_INET, "127.0.0.1", port):
        print("loopback:", port)
for name in ("localhost.example", "example.com", "host.docker.internal", "metadata.google.internal"):
    try:
        socket.getaddrinfo(name, 80)
        print("open: dns", name)
    except OSError:
        pass
# Every socket one can see, other than our own.
for folder in ("/run", "/tmp", "/app", "/opt", "/mnt", "/dev"):
    for root, folders, files in os.walk(folder):
        for file in files:
            path = os.path.join(root, file)
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                print("socket:", path)
for path in ("/run/swe-ci/x", "/run/swe-ci/gateway.sock.new", "/opt/swe-ci/agent/x"):
    try:
        pathlib.Path(path).write_text("x")
        print("open: write", path)
    except OSError:
        pass
try:
    os.unlink("/run/swe-ci/gateway.sock")
    print("open: unlink")
except OSError:
    pass

def ask(path, token, body=None):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(GATEWAY + path, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        json.loads(error.read())["error"]
        return error.code

chat = "/v1/chat/completions"
hello = [{"role": "user", "content": "hello"}]
print("models:", ask("/v1/models", TOKEN))
print("good:", ask(chat, TOKEN, {"model": "scripted-1", "messages": hello}))
print("bad token:", ask(chat, "guess", {"model": "scripted-1", "messages": hello}))
print("other model:", ask(chat, TOKEN, {"model": "dearer-1", "messages": hello}))
print("other protocol:", ask("/v1/messages", TOKEN, {"model": "scripted-1", "messages": hello}))
print("unknown path:", ask("/v1/files", TOKEN, {}))
print("no JSON:", ask(chat, TOKEN, "text"))
print("environment:", json.dumps(dict(os.environ)))
for entry in os.listdir("/proc"):
    if entry.isdigit():
        print("process:", pathlib.Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode())
"#;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_the_gateway_is_reached() {
    let fixture = agents::ready().await;
    let llm = ScriptedLlm::start(Script::with(mend_one_by_one), KEY)
        .await
        .unwrap();
    let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
    let udp = UdpSocket::bind("0.0.0.0:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let hosts = [
        "172.17.0.1",
        "169.254.169.254",
        "192.0.2.1",
        "172.17.0.2",
        "::ffff:172.17.0.1",
        "fe80::1",
        "2001:db8::1",
    ];
    let ports = (
        tcp.local_addr().unwrap().port(),
        udp.local_addr().unwrap().port(),
    );
    let script = LOOK_AROUND
        .replace("HOSTS_HERE", &format!("{hosts:?}"))
        .replace("PORTS_HERE", &format!("{ports:?}"));
    // It is reachable at all: from outside the container.
    std::net::TcpStream::connect(("127.0.0.1", ports.0)).unwrap();
    describe(&fixture.folder.path().join("data/harnesses"), &script);
    let harness = HarnessConfig::Program {
        program: "look-around".into(),
        version: None,
    };
    let mut config = agents::config(&llm, harness, Protocol::Chat);
    config.plan.max_iterations = 1;
    let run = fixture.run(config).await;
    let evolution = &run.evolution_list[0];
    assert_eq!(
        evolution.ending,
        Some(Ending::IterationsSpent),
        "{:?}",
        evolution.reason
    );

    let id = &evolution.evolution_id;
    let log = fixture
        .engine
        .log_file(id, 1, Role::Architect, 1)
        .await
        .unwrap();
    let log = text_of(log).await;
    let lines = |start: &str| -> Vec<&str> {
        log.lines()
            .filter_map(|line| line.strip_prefix(start))
            .collect()
    };
    assert_eq!(lines("open: "), [""; 0], "{log}");
    assert_eq!(lines("interfaces: "), ["['lo']"]);
    assert_eq!(lines("loopback: "), ["41414"]);
    assert_eq!(lines("socket: "), ["/run/swe-ci/gateway.sock"]);
    let expect = [
        ("models: ", "200"),
        ("good: ", "200"),
        ("bad token: ", "401"),
        ("other model: ", "404"),
        ("other protocol: ", "404"),
        ("unknown path: ", "404"),
        ("no JSON: ", "400"),
    ];
    for (what, status) in expect {
        assert_eq!(lines(what), [status], "{what}");
    }
    assert!(udp.recv(&mut [0; 16]).is_err(), "a datagram came through");
    assert_eq!(llm.seen().len(), 2, "one good request in each of two steps");
    // The container can read the token of its step, never the key.
    assert!(lines("environment: ")[0].contains("swe-ci-"));
    assert!(!log.contains(KEY));
    // No socket and no socket mount outlives the steps.
    let left = sockets(&fixture.folder.path().join("data/gateway"));
    assert_eq!(left, [""; 0]);
}

fn describe(folder: &Path, script: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let description = format!(
        "name = \"look-around\"\ntitle = \"Looks around\"\nversion = \"1\"\nprotocol = \"chat\"\n\
         command = '''\npython3 /app/harness/look.py\nprintf %s '{}' > /app/requirement.xml\n'''\n\
         [files]\n\"look.py\" = '''{script}'''\n\
         [env]\nGATEWAY = \"{{{{gateway}}}}\"\nTOKEN = \"{{{{token}}}}\"\n",
        agents::DOCUMENT
    );
    std::fs::write(folder.join("look-around.toml"), description).unwrap();
}

/// Sockets below a folder, and folders other than the gateway's own.
fn sockets(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let left = entries.filter(|entry| {
        let kind = entry.file_type().unwrap();
        kind.is_dir() || kind.is_socket()
    });
    left.map(|entry| entry.path().display().to_string())
        .collect()
}
