//! The gateway's latency in a conversation with a model, and its cost with many
//! streams at once. Provider and agents run in this process, the gateway in
//! another, so that its memory is measured alone. Prints numbers; judges
//! nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::{Json, Router};
use futures::stream;
use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_engine::{Engine, testing};
use swe_ci_gateway::testing::{MODEL, OpenGateway, Opening};
use swe_ci_testing::measurements::{higher_is_better, lower_is_better};
use swe_ci_testing::scripted::{Script, ScriptedLlm, Turn};

const KEY: &str = "sk-bench";
const STEPS: usize = 200;
/// The argument that makes this program the gateway.
const SERVE: &str = "serve-gateway";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, serve, url, steps] = &arguments[..]
        && serve == SERVE
    {
        return serve_gateway(url, steps.parse()?);
    }
    first_bytes().await?;
    chunks().await?;
    many_streams().await?;
    layers().await
}

/// Main function of the gateway's process; runs until its stdin closes.
fn serve_gateway(url: &str, steps: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let gateway = OpenGateway::open(folder.path(), url, KEY, steps)?;
    println!("{}", serde_json::to_string(&gateway.openings())?);
    tokio::task::block_in_place(|| std::io::stdin().read_to_end(&mut Vec::new()))?;
    Ok(())
}

/// The gateway's process, seen from here.
struct GatewayProcess {
    process: Child,
    openings: Vec<Opening>,
}

impl GatewayProcess {
    fn start(url: &str, steps: usize) -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([SERVE, url, &steps.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().context("its output is not piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let openings = serde_json::from_str(&line).context("the gateway does not open")?;
        Ok(Self { process, openings })
    }

    fn agent(&self, step: usize) -> anyhow::Result<Agent> {
        let Opening { socket, token } = &self.openings[step];
        let client = swe_ci_base::tls::http_client().unix_socket(socket.clone());
        Ok(Agent {
            client: client.build()?,
            url: "http://gateway/v1/chat/completions".into(),
            key: token.clone(),
        })
    }

    /// MiB of memory: now, and at most.
    fn memory(&self) -> anyhow::Result<(f64, f64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let field = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name))?;
            value.trim().strip_suffix(" kB")?.parse::<f64>().ok()
        };
        let (now, most) = field("VmRSS:").zip(field("VmHWM:")).context("no memory")?;
        Ok((now / 1024.0, most / 1024.0))
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        // It ends with its stdin.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// A client.
#[derive(Clone)]
struct Agent {
    client: reqwest::Client,
    url: String,
    key: String,
}

impl Agent {
    fn direct(url: &str) -> anyhow::Result<Self> {
        Ok(Self {
            client: swe_ci_base::tls::http_client().no_proxy().build()?,
            url: format!("{url}/chat/completions"),
            key: KEY.into(),
        })
    }

    async fn ask(&self, body: Vec<u8>) -> anyhow::Result<reqwest::Response> {
        let request = self.client.post(&self.url).bearer_auth(&self.key);
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        Ok(request.send().await?.error_for_status()?)
    }
}

/// Time from the request to the first byte of the answer.
async fn first_bytes() -> anyhow::Result<()> {
    const TIMES: usize = 1_000;
    let llm = ScriptedLlm::start(Script::with(|_| Turn::say("Done.")), KEY).await?;
    let served = GatewayProcess::start(&llm.url(Protocol::Chat), 1)?;
    let agents = [Agent::direct(&llm.url(Protocol::Chat))?, served.agent(0)?];
    let prompt = "You are the programmer of a project.";
    let body = json!({ "model": MODEL, "stream": true, "messages": [{ "role": "user", "content": prompt }] });
    let mut found = [Vec::new(), Vec::new()];
    for round in 0..TIMES + 50 {
        // In turns, so that other load on the machine affects both.
        for (agent, found) in agents.iter().zip(&mut found) {
            let began = Instant::now();
            let mut answer = agent.ask(body.to_string().into_bytes()).await?;
            answer.chunk().await?;
            let took = began.elapsed();
            while answer.chunk().await?.is_some() {}
            if round >= 50 {
                found.push(millis(took));
            }
        }
    }
    report("a request, to the first byte", found);
    Ok(())
}

/// Time from the provider's write of a piece to the agent's read.
async fn chunks() -> anyhow::Result<()> {
    let url = provider().await?;
    let served = GatewayProcess::start(&url, 1)?;
    let agents = [Agent::direct(&url)?, served.agent(0)?];
    let mut found = [Vec::new(), Vec::new()];
    for (agent, found) in agents.iter().zip(&mut found) {
        let mut answer = agent
            .ask(request_body(1_000, Duration::from_millis(3), 0))
            .await?;
        while let Some(piece) = answer.chunk().await? {
            let now = now_ns();
            let text = String::from_utf8_lossy(&piece);
            let sent = text.split("sent ").nth(1).and_then(|s| s.split(' ').next());
            if let Some(sent) = sent.and_then(|sent| sent.parse::<u64>().ok()) {
                found.push(now.saturating_sub(sent) as f64 / 1e6);
            }
        }
    }
    report("a piece of a stream", found);
    Ok(())
}

/// As many concurrent streams as there are steps: throughput, and memory.
async fn many_streams() -> anyhow::Result<()> {
    let url = provider().await?;
    let direct = vec![Agent::direct(&url)?; STEPS];
    let without = all_of(&direct, || request_body(500, Duration::ZERO, 0)).await?;
    let served = GatewayProcess::start(&url, STEPS)?;
    let agents: Vec<Agent> = (0..STEPS)
        .map(|step| served.agent(step))
        .collect::<Result<_, _>>()?;
    let (idle, _) = served.memory()?;
    let with = all_of(&agents, || request_body(500, Duration::ZERO, 0)).await?;
    higher_is_better("gateway: 200 streams", with, "pieces/s");
    higher_is_better("gateway: 200 streams without it", without, "pieces/s");
    let (_, most) = served.memory()?;
    lower_is_better("gateway: memory when idle", idle, "MiB");
    lower_is_better("gateway: memory at most, 200 streams", most, "MiB");
    for kib in [4, 100] {
        let served = GatewayProcess::start(&url, STEPS)?;
        let agents: Vec<Agent> = (0..STEPS)
            .map(|step| served.agent(step))
            .collect::<Result<_, _>>()?;
        let (idle, _) = served.memory()?;
        let streams = tokio::spawn(async move {
            all_of(&agents, || {
                request_body(100, Duration::from_millis(50), kib << 10)
            })
            .await
        });
        tokio::time::sleep(Duration::from_secs(4)).await;
        let (open, _) = served.memory()?;
        streams.await??;
        let what = format!("gateway: memory for 200 requests of {kib} KiB");
        lower_is_better(&what, open - idle, "MiB");
    }
    Ok(())
}

/// All agents ask at once and read to the end; returns the pieces a second.
async fn all_of(agents: &[Agent], body: impl Fn() -> Vec<u8>) -> anyhow::Result<f64> {
    let began = Instant::now();
    let asking = agents.iter().map(|agent| {
        let (agent, body) = (agent.clone(), body());
        tokio::spawn(async move {
            let mut answer = agent.ask(body).await?;
            let mut lines = 0;
            while let Some(piece) = answer.chunk().await? {
                lines += piece.iter().filter(|byte| **byte == b'\n').count();
            }
            anyhow::Ok(lines / 2)
        })
    });
    let asking: Vec<_> = asking.collect();
    let mut pieces = 0;
    for asked in asking {
        pieces += asked.await??;
    }
    Ok(pieces as f64 / began.elapsed().as_secs_f64())
}

/// Builds an agent program's layer, the first time and the second.
async fn layers() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("harnesses"))?;
    let description = "name = \"bench\"\ntitle = \"Bench\"\nversion = \"1\"\nprotocol = \"chat\"\ncommand = \"true\"\n";
    std::fs::write(data.join("harnesses/bench.toml"), description)?;
    let engine = Engine::open(testing::config(data, 0)).await?;
    let mut took = Vec::new();
    let mut volume = String::new();
    for _ in 0..2 {
        let began = Instant::now();
        (volume, _) = testing::layer(&engine, "bench").await?;
        took.push(began.elapsed().as_secs_f64());
    }
    lower_is_better("gateway: an empty layer is built", took[0], "s");
    lower_is_better("gateway: a built layer is found", took[1] * 1e3, "ms");
    let removed = Command::new("docker")
        .args(["volume", "rm", &volume])
        .output()?;
    anyhow::ensure!(removed.status.success(), "the volume {volume} is left");
    Ok(())
}

/// A provider that streams the requested number of pieces, each with its send
/// time. Returns its address.
async fn provider() -> anyhow::Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let router = Router::new()
        .fallback(stream_pieces)
        .layer(axum::extract::DefaultBodyLimit::disable());
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

/// A request for pieces, padded to a length.
fn request_body(pieces: u64, pause: Duration, length: usize) -> Vec<u8> {
    // Many small parts, as in real conversations.
    let message = json!({ "role": "user", "content": "0123456789 ".repeat(40) });
    let messages = vec![message; length / 480];
    let pause = u64::try_from(pause.as_millis()).unwrap_or(0);
    json!({ "model": MODEL, "stream": true, "messages": messages, "pieces": pieces, "pause": pause })
        .to_string()
        .into_bytes()
}

async fn stream_pieces(Json(request_body): Json<Value>) -> impl IntoResponse {
    let left = request_body["pieces"].as_u64().unwrap_or(0);
    let pause = Duration::from_millis(request_body["pause"].as_u64().unwrap_or(0));
    let pieces = stream::unfold(Some(left), move |left| async move {
        let left = left?;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let (piece, next) = match left {
            0 => ("data: [DONE]\n\n".to_owned(), None),
            left => (piece(), Some(left - 1)),
        };
        Some((Ok::<_, Infallible>(Bytes::from(piece)), next))
    });
    (
        [(CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(pieces),
    )
}

fn piece() -> String {
    let content = format!("sent {} and more", now_ns());
    let choice = json!({ "index": 0, "delta": { "content": content }, "finish_reason": null });
    let chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice] });
    format!("data: {chunk}\n\n")
}

/// Since 1970, on the one clock of both ends.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Reports median and 99th percentile, and how much of them the gateway adds.
fn report(what: &str, mut found: [Vec<f64>; 2]) {
    let [direct, through] = found.each_mut().map(|times| {
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied();
        [at(50), at(99)].map(Option::unwrap_or_default)
    });
    for (at, name) in ["median", "p99"].into_iter().enumerate() {
        let (all, added) = (through[at], through[at] - direct[at]);
        lower_is_better(&format!("gateway: {what}, {name}"), all, "ms");
        lower_is_better(&format!("gateway: {what}, {name} added"), added, "ms");
    }
}
