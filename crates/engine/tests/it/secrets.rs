//! A provider's key goes only to the provider. An evolution runs with a marked
//! key, and the test searches everything visible during the run and afterwards.
//! Each search must also find something that is there, or it would prove
//! nothing.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use futures::StreamExt;
use memchr::memmem;
use serde::Serialize;
use swe_ci_core::agent::Protocol;
use swe_ci_core::run::HarnessConfig;
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_engine::testing::text_of;
use swe_ci_testing::scripted::{Script, ScriptedLlm, Turn};
use swe_ci_views::account::Visibility;
use tokio_util::sync::CancellationToken;
use tracing::Dispatch;
use tracing_subscriber::util::SubscriberInitExt;

use crate::agents::{self, mend_one_by_one};
use crate::fixture::{Fixture, SPLIT};

/// With characters that URLs and JSON may escape.
const KEY: &str = "sk-marked/3f+9c1e%7d=2a/b4";
const PROMPT: &str = "You are the programmer";

#[test]
fn the_builtin_agent_leaves_no_trace_of_the_key() {
    with_captured_log(async |log| {
        let mut run = MarkedRun::run(HarnessConfig::Builtin, Script::with(mend_one_by_one)).await;
        let observations = run.evidence(&log).await;
        let key = Needle::new(KEY);
        assert_eq!(key.places(&observations), [""; 0]);
        let provider = run.llm.url(Protocol::Chat);
        let provider = provider
            .trim_start_matches("http://")
            .trim_end_matches("/v1");
        for (text, place) in [
            (PROMPT, "data artifacts"),
            (PROMPT, "trajectory"),
            (PROMPT, "recording"),
            ("\"NetworkMode\": \"none\"", "docker inspect"),
            ("site-packages/_pytest/", "docker save"),
            (provider, "trace"),
            (provider, "run"),
            (provider, "data swe-ci.sqlite"),
            (&own_name(), "processes"),
        ] {
            assert!(
                Needle::new(text).is_at(place, &observations),
                "no {text} in {place}"
            );
        }
    });
}

#[test]
fn a_program_that_shows_all_it_sees_does_not_show_the_key() {
    with_captured_log(async |log| {
        let program = HarnessConfig::Program {
            program: "show-all".into(),
            version: None,
        };
        let mut run = MarkedRun::run(program, Script::with(|_| Turn::say("Done."))).await;
        let observations = run.evidence(&log).await;
        let key = Needle::new(KEY);
        assert_eq!(key.places(&observations), [""; 0]);

        let log = run.log(Role::Programmer).await;
        let line = |start: &str| log.lines().find_map(|line| line.strip_prefix(start));
        // A token is valid only for its own step.
        assert_eq!(line("own token: "), Some("200"));
        assert_eq!(line("earlier token: "), Some("401"));
        let token = Needle::new(line("TOKEN=").unwrap());
        for place in ["log programmer", "data artifacts/code"] {
            assert!(token.is_at(place, &observations), "the token in {place}");
        }
        for place in [
            "recording",
            "trajectory",
            "docker inspect",
            "data swe-ci.sqlite",
        ] {
            assert!(!token.is_at(place, &observations), "the token in {place}");
        }
        for (text, place) in [("/run/swe-ci", "docker inspect"), ("LAYERED", "volume")] {
            assert!(
                Needle::new(text).is_at(place, &observations),
                "no {text} in {place}"
            );
        }
    });
}

/// An evolution that ran with the marked key.
struct MarkedRun {
    fixture: Fixture,
    llm: ScriptedLlm,
    run_id: String,
    evolution_id: String,
    /// Observations during the run.
    meanwhile: Vec<Observation>,
}

/// An observation, and its place.
struct Observation {
    place: String,
    bytes: Vec<u8>,
}

impl Observation {
    fn new(place: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let (place, bytes) = (place.into(), bytes.into());
        Self { place, bytes }
    }

    /// As the API returns it, and as a log would print it.
    fn of<T: Serialize + std::fmt::Debug>(place: &str, answers: &T) -> Self {
        let json = serde_json::to_string(answers).unwrap();
        Self::new(place, format!("{json}\n{answers:?}"))
    }
}

impl MarkedRun {
    async fn run(harness: HarnessConfig, script: Script) -> Self {
        let fixture = agents::ready().await;
        let engine = &fixture.engine;
        engine.set_key("scripted", &KEY.into()).await.unwrap();
        let llm = ScriptedLlm::start(script, KEY).await.unwrap();
        describe(&fixture.folder.path().join("data/harnesses"));
        let mut config = agents::config(&llm, harness, Protocol::Chat);
        config.plan.max_iterations = 1;
        let run_id = engine.submit(config, Visibility::Public).await.unwrap();
        let stop = CancellationToken::new();
        let events = engine
            .events(&run_id, None)
            .await
            .unwrap()
            .take_until(stop.clone().cancelled_owned());
        let events = tokio::spawn(
            events
                .map(|event| Observation::of("events", &event))
                .collect(),
        );
        let watching = tokio::spawn(watch(label(&fixture), stop.clone()));
        let run = fixture
            .until(&run_id, |run| run.summary.progress.is_over())
            .await;
        stop.cancel();
        let mut meanwhile: Vec<Observation> = events.await.unwrap();
        meanwhile.extend(watching.await.unwrap());
        let evolution = &run.evolution_list[0];
        assert_eq!(evolution.iterations.len(), 1, "{:?}", evolution.reason);
        let gateway = fixture.folder.path().join("data/gateway");
        let mode = gateway.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "no other user looks into it");
        // The key was used: the provider accepts no other.
        let asked = llm.seen();
        assert!(
            asked.len() >= 2
                && asked
                    .iter()
                    .all(|request| request.key.as_deref() == Some(KEY))
        );
        Self {
            evolution_id: evolution.evolution_id.clone(),
            run_id,
            fixture,
            llm,
            meanwhile,
        }
    }

    async fn evidence(&mut self, log: &CapturedLog) -> Vec<Observation> {
        let mut observations = Box::pin(self.answers()).await;
        let images = self.images().await;
        for image in &images {
            observations.push(docker(&["image", "inspect", image]));
            observations.push(docker(&["history", "--no-trunc", image]));
        }
        // Together: each layer that they share is saved once.
        let save = ["save"].into_iter();
        let save: Vec<&str> = save.chain(images.iter().map(String::as_str)).collect();
        observations.push(docker(&save));
        for layer in self.layers() {
            observations.push(volume(&layer.volume, &layer.digest));
        }
        let data = self.fixture.folder.path().join("data");
        files(&data, &data, &mut observations);
        observations.push(Observation::new("trace", log.0.lock().unwrap().clone()));
        observations.append(&mut self.meanwhile);
        observations
    }

    /// Every answer of the façade about the run.
    async fn answers(&self) -> Vec<Observation> {
        let (engine, id) = (&self.fixture.engine, &self.evolution_id);
        let run = engine.run(&self.run_id).await.unwrap();
        let task = run.evolution_list[0].task_id.clone();
        let steps = engine.steps(id).await.unwrap();
        let mut answers = vec![
            Observation::of("run", &run),
            Observation::of("steps", &steps),
            Observation::of(
                "evolution",
                &engine.evolution(&self.run_id, &task, 1).await.unwrap(),
            ),
            Observation::of("iteration", &engine.iteration(id, 1).await.unwrap()),
            Observation::of(
                "inspection",
                &engine.inspect_iteration(id, 1).await.unwrap(),
            ),
            Observation::of("change", &engine.code_change(id, 1).await.unwrap()),
            Observation::of("keys", &engine.key_names().await.unwrap()),
            Observation::new(
                "leaderboard",
                format!("{:?}", engine.leaderboard_data(SPLIT).await.unwrap()),
            ),
            Observation::of("model", &engine.model("Scripted", false).await.unwrap()),
            Observation::new("doctor", format!("{:?}", engine.doctor().await)),
            Observation::new("engine", format!("{engine:?} {:?}", engine.config())),
        ];
        for role in [Role::Architect, Role::Programmer] {
            let recording = engine.recording_file(id, 1, role, 1).await.unwrap();
            answers.push(Observation::new("recording", text_of(recording).await));
            let trajectory = engine.trajectory_file(id, 1, role, 1).await.unwrap();
            answers.push(Observation::new("trajectory", text_of(trajectory).await));
            answers.push(Observation::new(
                format!("log {}", role.name()),
                self.log(role).await,
            ));
        }
        answers
    }

    async fn log(&self, role: Role) -> String {
        let log = self.fixture.engine.log_file(&self.evolution_id, 1, role, 1);
        text_of(log.await.unwrap()).await
    }

    /// The task's image, and those of the layers.
    async fn images(&self) -> Vec<String> {
        let task = TaskId::new("two-and-three").unwrap();
        let task = self.fixture.engine.task(&task).await.unwrap();
        let layers = self.layers().into_iter().map(|layer| layer.digest);
        layers.chain([task.image_digest]).collect()
    }

    fn layers(&self) -> Vec<Layer> {
        let folder = self.fixture.folder.path().join("data/layers");
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
            .collect()
    }
}

/// A record of a layer, as the engine writes it.
#[derive(serde::Deserialize)]
struct Layer {
    volume: String,
    digest: String,
}

/// Prints everything it can see, to its log and into the code, and passes its
/// token to the programmer as the architect.
const SHOW_ALL: &str = r#"
import json, os, pathlib, stat, time, urllib.error, urllib.request

def ask(token):
    prompt = pathlib.Path("/app/harness/prompt.md").read_text()
    body = {"model": "scripted-1", "messages": [{"role": "user", "content": prompt}]}
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    url = os.environ["GATEWAY"] + "/v1/chat/completions"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
            print(answer.headers, answer.read().decode())
            return answer.status
    except urllib.error.HTTPError as error:
        print(error.headers, error.read().decode())
        return error.code

def every_file():
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ", "status", "mountinfo", "maps"):
            yield process / name
    out = ("/proc", "/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/var/lib")
    for root, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(root, name) not in out]
        yield from (pathlib.Path(root, name) for name in names)

def text_of(path):
    try:
        kind = path.lstat()
        if not stat.S_ISREG(kind.st_mode) or kind.st_size > 65536:
            return ""
        return path.read_bytes().replace(b"\0", b"\n").decode(errors="replace")
    except OSError as error:
        return str(error)

document = pathlib.Path("/app/requirement.xml")
token = os.environ["TOKEN"]
print("own token:", ask(token))
if document.exists():
    print("earlier token:", ask(document.read_text().split("description>")[1][:-2].strip()))
else:
    document.write_text(DOCUMENT.replace("wrong number", token))
shown = "\n".join(f"== {path}\n{text_of(path)}" for path in every_file())
print(shown)
pathlib.Path("/app/code/shown.txt").write_text(shown)
# Long enough to be seen from outside.
time.sleep(1)
"#;

fn describe(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let script = SHOW_ALL.replace("DOCUMENT", &format!("{:?}", agents::DOCUMENT));
    let description = format!(
        "name = \"show-all\"\ntitle = \"Shows all\"\nversion = \"1\"\nprotocol = \"chat\"\n\
         install = [\"echo LAYERED > $layer/here.txt\"]\n\
         command = 'python3 /app/harness/show.py'\n\
         [files]\n\"show.py\" = '''{script}'''\n\
         [env]\nGATEWAY = \"{{{{gateway}}}}\"\nTOKEN = \"{{{{token}}}}\"\n"
    );
    std::fs::write(folder.join("show-all.toml"), description).unwrap();
}

/// Observes the containers in the container engine, and all processes in the
/// kernel, repeatedly.
async fn watch(label: String, stop: CancellationToken) -> Vec<Observation> {
    let mut observations = Vec::new();
    while !stop.is_cancelled() {
        let label = label.clone();
        let observe = tokio::task::spawn_blocking(move || observe(&label));
        observations.extend(observe.await.unwrap());
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    observations
}

fn observe(label: &str) -> Vec<Observation> {
    let ids = docker(&["ps", "-aq", "--no-trunc", "--filter", label]).bytes;
    let ids = String::from_utf8(ids).unwrap();
    let mut observations = vec![Observation::new("processes", processes())];
    if !ids.is_empty() {
        // A container may be gone by now; that error is harmless.
        let args: Vec<&str> = ["inspect"].into_iter().chain(ids.lines()).collect();
        observations.push(docker(&args));
    }
    observations
}

/// The command line of this process.
fn own_name() -> String {
    let line = std::fs::read_to_string("/proc/self/cmdline").unwrap();
    line.split('\0').next().unwrap().to_owned()
}

/// Command lines and environments of all processes of this machine.
fn processes() -> Vec<u8> {
    let mut all = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        for name in ["cmdline", "environ"] {
            let mut bytes = std::fs::read(process.path().join(name)).unwrap_or_default();
            bytes
                .iter_mut()
                .filter(|b| **b == 0)
                .for_each(|b| *b = b' ');
            all.extend(bytes);
            all.push(b'\n');
        }
    }
    all
}

fn label(fixture: &Fixture) -> String {
    let instance = fixture.folder.path().join("data/instance");
    let instance = std::fs::read_to_string(instance).unwrap();
    format!("label=swe-ci.instance={}", instance.trim())
}

/// The output of a Docker command.
fn docker(args: &[&str]) -> Observation {
    let output = Command::new("docker")
        .args(args)
        .stderr(Stdio::null())
        .output();
    Observation::new(format!("docker {}", args.join(" ")), output.unwrap().stdout)
}

/// All files of a volume, read in a container of this image.
fn volume(name: &str, image: &str) -> Observation {
    let mount = format!("{name}:/seen:ro");
    let made = docker(&["create", "--network=none", "-v", &mount, image, "true"]);
    let id = String::from_utf8(made.bytes).unwrap();
    let files = docker(&["cp", &format!("{}:/seen", id.trim()), "-"]);
    docker(&["rm", "--force", id.trim()]);
    Observation::new("volume", files.bytes)
}

/// All files below a folder; archives are unpacked too.
fn files(root: &Path, folder: &Path, observations: &mut Vec<Observation>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(root, &path, observations);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().display();
        let bytes = std::fs::read(&path).unwrap();
        if path.extension().is_some_and(|end| end == "zst") {
            let unpacked = zstd::decode_all(bytes.as_slice()).unwrap();
            observations.push(Observation::new(format!("data {name}, unpacked"), unpacked));
        }
        observations.push(Observation::new(format!("data {name}"), bytes));
    }
}

/// A text in every form in which it may appear.
struct Needle(Vec<memmem::Finder<'static>>);

impl Needle {
    fn new(text: &str) -> Self {
        let each = |form: fn(u8) -> String| text.bytes().map(form).collect::<String>();
        let mut forms = vec![
            text.to_owned(),
            text.replace('/', "\\/"),
            each(|b| format!("{b:02x}")),
            each(|b| format!("{b:02X}")),
            each(|b| format!("%{b:02x}")),
            each(|b| format!("%{b:02X}")),
            each(|b| match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(b).to_string()
                }
                _ => format!("%{b:02X}"),
            }),
        ];
        // Inside longer data, three bytes become four characters; leaves out
        // those that depend on the neighbours.
        for before in 0..3 {
            let bytes = [&b"..."[..before], text.as_bytes()].concat();
            for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
                let mut form = engine.encode(&bytes);
                form.truncate(bytes.len() / 3 * 4);
                forms.push(form.split_off(if before > 0 { 4 } else { 0 }));
            }
        }
        let finder = |form: &String| memmem::Finder::new(form).into_owned();
        Self(forms.iter().map(finder).collect())
    }

    /// The places that contain it, each once.
    fn places(&self, observations: &[Observation]) -> Vec<String> {
        let mut places: Vec<String> = observations
            .iter()
            .filter(|observation| self.is_in(&observation.bytes))
            .map(|observation| observation.place.clone())
            .collect();
        places.sort();
        places.dedup();
        places
    }

    fn is_at(&self, place: &str, observations: &[Observation]) -> bool {
        let mut there = observations
            .iter()
            .filter(|observation| observation.place.starts_with(place));
        there.any(|observation| self.is_in(&observation.bytes))
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|form| form.find(bytes).is_some())
    }
}

/// The program's own log output, in full detail.
#[derive(Clone, Default)]
struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a test on its own threads and captures their log: other tests of this
/// process must not interfere.
fn with_captured_log(test: impl AsyncFnOnce(CapturedLog)) {
    let log = CapturedLog::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let dispatch = Dispatch::new(subscriber);
    let _guard = dispatch.clone().set_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .on_thread_start(move || std::mem::forget(dispatch.clone().set_default()))
        .build()
        .unwrap();
    runtime.block_on(test(log));
}

#[test]
fn a_needle_is_found_in_every_form() {
    let needle = Needle::new(KEY);
    for text in [
        KEY,
        r"sk-marked\/3f+9c1e%7d=2a\/b4",
        "sk-marked%2F3f%2B9c1e%257d%3D2a%2Fb4",
        "736b2d6d61726b65642f33662b396331652537643d32612f6234",
        "%73%6b%2d%6d%61%72%6b%65%64%2f%33%66%2b%39%63%31%65%25%37%64%3d%32%61%2f%62%34",
        // Alone, and after `Bearer `, `x: ` and `ab`.
        "c2stbWFya2VkLzNmKzljMWUlN2Q9MmEvYjQ=",
        "QmVhcmVyIHNrLW1hcmtlZC8zZis5YzFlJTdkPTJhL2I0",
        "eDogc2stbWFya2VkLzNmKzljMWUlN2Q9MmEvYjQ=",
        "YWJzay1tYXJrZWQvM2YrOWMxZSU3ZD0yYS9iNAo=",
    ] {
        assert!(needle.is_in(format!("({text})").as_bytes()), "{text}");
    }
    assert!(!needle.is_in(b"sk-marked/3f+9c1e%7d=2a/b5"));
}
