//! Agents that leave, print or ask for far too much. It is their fault and not
//! the platform's, and the server stays small.

use std::path::Path;

use swe_ci_core::agent::Protocol;
use swe_ci_core::run::HarnessConfig;
use swe_ci_core::step::Ending;
use swe_ci_testing::scripted::{Script, ScriptedLlm, Turn};

use crate::agents::{self, KEY};

/// Peak memory of this process, in MiB: server, worker and gateway.
const MOST_MEMORY: u64 = 500;

const FLOOD: &str = r#"
import os, pathlib, socket, sys, time

code = pathlib.Path("/app/code")
document = pathlib.Path("/app/requirement.xml")
kind = "KIND"
if not document.exists() and kind != "a document":
    document.write_text(DOCUMENT)
elif kind == "a sparse file":
    with open(code / "sparse", "wb") as file:
        file.truncate(4 << 30)
elif kind == "files":
    for folder in range(200):
        (code / str(folder)).mkdir()
        for n in range(1000):
            os.close(os.open(f"/app/code/{folder}/{n}", os.O_CREAT))
elif kind == "hard links":
    (code / "one").write_bytes(b"x" * (20 << 20))
    for n in range(200):
        os.link("/app/code/one", f"/app/code/link-{n}")
elif kind == "deep folders":
    os.chdir("/app/code")
    for n in range(5_000):
        os.mkdir("deep")
        os.chdir("deep")
elif kind == "output":
    line = b"x" * 1023 + b"\n"
    for n in range(100 << 10):
        os.write(1, line)
elif kind == "connections":
    kept = []
    for n in range(3_000):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(0.2)
        try:
            connection.connect("/run/swe-ci/gateway.sock")
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\n")
        except OSError:
            pass
        kept.append(connection)
elif kind == "a report":
    (code / "tiny.py").write_text(
        "import sys\ndef one():\n    print('y' * (50 << 20))\n    raise ValueError('x' * (100 << 20))\n"
        "def two(): return 2\ndef three(): return 3\n"
    )
elif kind == "a document":
    with open(document, "wb") as file:
        file.truncate(2 << 30)
"#;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: fills containers"]
async fn too_much_of_anything_is_the_agents_fault() {
    let fixture = agents::ready().await;
    let llm = ScriptedLlm::start(Script::with(|_| Turn::say("Done.")), KEY)
        .await
        .unwrap();
    let mut unexpected = String::new();
    for (kind, expect) in [
        ("a sparse file", Ending::AgentGaveUp),
        ("files", Ending::AgentGaveUp),
        ("hard links", Ending::AgentGaveUp),
        ("deep folders", Ending::IterationsSpent),
        ("output", Ending::IterationsSpent),
        ("connections", Ending::IterationsSpent),
        ("a report", Ending::IterationsSpent),
        ("a document", Ending::AgentGaveUp),
    ] {
        let program = format!("flood-{}", kind.replace(' ', "-"));
        describe(
            &fixture.folder.path().join("data/harnesses"),
            &program,
            kind,
        );
        let harness = HarnessConfig::Program {
            program,
            version: None,
        };
        let mut config = agents::config(&llm, harness, Protocol::Chat);
        config.plan.max_iterations = 1;
        config.plan.max_attempts = 1;
        let run = fixture.run(config).await;
        let evolution = &run.evolution_list[0];
        let memory = peak_memory();
        let told = format!(
            "{kind}: {:?}, {:?}, {:?}, peak memory {memory} MiB\n",
            evolution.ending,
            evolution.reason,
            evolution.iterations.first().map(|i| i.verdict),
        );
        eprint!("{told}");
        if evolution.ending != Some(expect) {
            unexpected += &told;
        }
        // Without `--exact`, which nextest gives, other tests share this process.
        if std::env::args().any(|argument| argument == "--exact") && memory > MOST_MEMORY {
            unexpected += &told;
        }
    }
    assert!(unexpected.is_empty(), "{unexpected}");
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kibibytes: u64 = peak
        .and_then(|line| line.split_whitespace().nth(1))
        .and_then(|number| number.parse().ok())
        .unwrap();
    kibibytes / 1024
}

fn describe(folder: &Path, program: &str, kind: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let script = FLOOD
        .replace("KIND", kind)
        .replace("DOCUMENT", &format!("{:?}", agents::DOCUMENT));
    let description = format!(
        "name = \"{program}\"\ntitle = \"Floods\"\nversion = \"1\"\nprotocol = \"chat\"\n\
         command = 'python3 /app/harness/flood.py'\n\
         [files]\n\"flood.py\" = '''{script}'''\n\
         [env]\nGATEWAY = \"{{{{gateway}}}}\"\nTOKEN = \"{{{{token}}}}\"\n",
    );
    std::fs::write(folder.join(format!("{program}.toml")), description).unwrap();
}
