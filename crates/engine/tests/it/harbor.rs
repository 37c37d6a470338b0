//! A split as tasks for Harbor: the files, and the verifier on them in a
//! container as Harbor starts it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use swe_ci_engine::Error;
use swe_ci_engine::testing::TinyTask;

use crate::fixture::{Fixture, SPLIT};

const TESTS: &str = "import a\ndef test_f(): assert a.f() == 1\ndef test_g(): assert a.g() == 0\n";
const BASE: &[(&str, &str)] = &[
    ("a.py", "def f(): return 0\ndef g(): return 0\n"),
    ("tests/test_a.py", TESTS),
];
const TARGET: &[(&str, &str)] = &[
    ("a.py", "def f(): return 1\ndef g(): return 0\n"),
    ("tests/test_a.py", TESTS),
];
/// Code that writes the reward, and reads what is expected of it.
const FORGER: &str = "import os, pathlib, subprocess
denied = []
def attempt(what):
    try:
        what()
    except OSError as error:
        denied.append(f'{error.filename} {type(error).__name__}')
attempt(lambda: pathlib.Path('/logs/verifier/reward.json').write_text('1'))
attempt(lambda: pathlib.Path('/tests/task.json').read_text())
attempt(lambda: os.chmod('/logs/verifier', 0o777))
attempt(lambda: os.chmod('/tests', 0o777))
subprocess.Popen(['sh', '-c', 'sleep 5; echo late > /logs/verifier/reward.json'], start_new_session=True)
def f(): raise ValueError(str(denied))
def g(): return 0
";

#[tokio::test(flavor = "multi_thread")]
async fn a_split_becomes_tasks_for_harbor() {
    let fixture = Fixture::new().await;
    let tiny = TinyTask {
        name: "tiny",
        versions: &[BASE, TARGET],
    };
    fixture.import(&[tiny]).await.unwrap();
    let engine = &fixture.engine;
    let folder = fixture.folder.path().join("harbor");
    let refused = engine.export_for_harbor(SPLIT, &folder, 0, &|_| {}).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let tasks = engine.export_for_harbor(SPLIT, &folder, 2, &|_| {}).await;
    assert_eq!(tasks.unwrap(), 1);

    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let step: toml::Table = read("step/tiny/task.toml").parse().unwrap();
    assert_eq!(step["task"]["name"].as_str(), Some("swe-ci/tiny"));
    assert_eq!(step["metadata"]["test_gap"].as_integer(), Some(1));
    assert_eq!(
        step["verifier"]["environment_mode"].as_str(),
        Some("separate")
    );
    assert_eq!(step["artifacts"][0]["source"].as_str(), Some("/app/code"));
    assert!(!step.contains_key("steps"));
    let evolution: toml::Table = read("evolution/tiny/task.toml").parse().unwrap();
    assert_eq!(
        evolution["task"]["name"].as_str(),
        Some("swe-ci-evolution/tiny")
    );
    assert_eq!(
        evolution["multi_step_reward_strategy"].as_str(),
        Some("mean")
    );
    let steps = evolution["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["iteration-0001", "iteration-0002"]);

    let instruction = read("step/tiny/instruction.md");
    assert!(
        instruction.contains("- `tests/test_a.py::test_f` (failed)"),
        "{instruction}"
    );
    assert!(!instruction.contains("test_g"), "{instruction}");
    for name in names {
        read(&format!("evolution/tiny/steps/{name}/instruction.md"));
    }
    assert!(
        !folder
            .join("evolution/tiny/steps/iteration-0001/workdir")
            .exists()
    );
    read("evolution/tiny/steps/iteration-0002/workdir/setup.sh");
    let task: Value = serde_json::from_str(&read("step/tiny/tests/task.json")).unwrap();
    assert_eq!(
        task["base_passing"],
        serde_json::json!(["tests/test_a.py::test_g"])
    );
    assert!(read("metadata/tiny.csv").contains("tiny,"));
    check_sums(&folder);

    let verifier = Verifier::of(&folder.join("step/tiny/tests"));
    let honest = verifier.grade(TARGET);
    assert!(
        honest.reward == 1.0 && honest.report["findings"] == serde_json::json!([]),
        "{honest:?}"
    );
    assert_eq!(verifier.grade(BASE).reward, 0.0);
    // Tests of its own do not count, and the base's test is lost.
    let own_tests = "def test_f(): pass\ndef test_g(): pass\n";
    let cheat = verifier.grade(&[("a.py", "x = 1\n"), ("tests/test_a.py", own_tests)]);
    assert_eq!(cheat.reward, -1.0, "{cheat:?}");
    let forger = verifier.grade(&[("a.py", FORGER)]);
    assert_eq!(forger.reward, 0.0, "{forger:?}");
    for path in [
        "/logs/verifier/reward.json",
        "/tests/task.json",
        "/logs/verifier",
        "/tests",
    ] {
        let denied = format!("{path} PermissionError");
        assert!(
            forger.report.to_string().contains(&denied),
            "{path}: {forger:?}"
        );
    }
    // An exit that looks like success.
    let exit = verifier.grade(&[("a.py", "import os\ndef f(): os._exit(0)\n")]);
    assert_eq!(exit.reward, -1.0);
    let collapse = exit.report["collapse"].as_str().unwrap();
    assert!(collapse.contains("ended before their end"), "{collapse}");
}

/// The verifier of a task, started as Harbor does.
struct Verifier {
    tests: PathBuf,
    image: String,
}

#[derive(Debug)]
struct Verified {
    reward: f64,
    report: Value,
    #[expect(dead_code, reason = "shown when a test fails")]
    output: String,
}

impl Verifier {
    fn of(tests: &Path) -> Self {
        let dockerfile = std::fs::read_to_string(tests.join("Dockerfile")).unwrap();
        let first = dockerfile.lines().next().unwrap();
        Self {
            tests: tests.to_owned(),
            image: first.strip_prefix("FROM ").unwrap().to_owned(),
        }
    }

    fn grade(&self, code: &[(&str, &str)]) -> Verified {
        let lab = tempfile::tempdir().unwrap();
        let logs = lab.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        for (path, text) in code {
            let path = lab.path().join("code").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mount = |from: &Path, to: &str| format!("--volume={}:{to}", from.display());
        // What the tests leave behind must not write after the verifier.
        let script = "mkdir -p /app/code && cp -r /given /tests && cp -r /agent/. /app/code \
                      && sh /tests/test.sh 2>&1; sleep 6; chmod -R a+rw /logs";
        let ran = Command::new("docker")
            .args(["run", "--rm", "--network=none"])
            .arg(mount(&self.tests, "/given:ro"))
            .arg(mount(&lab.path().join("code"), "/agent:ro"))
            .arg(mount(&logs, "/logs/verifier"))
            .args([&self.image, "sh", "-c", script])
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&ran.stdout).into_owned();
        let read = |name: &str| {
            let text = std::fs::read(logs.join(name));
            let text = text.unwrap_or_else(|error| panic!("{name}: {error}: {output}"));
            serde_json::from_slice::<Value>(&text).unwrap()
        };
        Verified {
            reward: read("reward.json")["reward"].as_f64().unwrap(),
            report: read("swe-ci.json"),
            output,
        }
    }
}

/// The sums of all files, as `sha256sum` checks them.
fn check_sums(folder: &Path) {
    let checked = Command::new("sha256sum")
        .args(["--check", "--quiet", "SHA256SUMS"])
        .current_dir(folder)
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{problem}");
}
