//! A dataset hub for tests: it serves a local folder with the part of the
//! Hugging Face API that a download needs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use swe_ci_base::digest::sha256_hex;

use crate::lock;

pub const COMMIT: &str = "5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed";

/// A server of the dataset `tiny/set`, from a folder in the official layout.
#[derive(Debug, Clone)]
pub struct ScriptedHub {
    pub url: String,
    state: Arc<Hub>,
}

#[derive(Debug)]
struct Hub {
    folder: PathBuf,
    /// How many of the next requests for a file to cut in the middle.
    cuts: Mutex<HashMap<String, u32>>,
    /// Bytes of each file that the client received, over all requests.
    sent: Mutex<HashMap<String, u64>>,
    token: Option<String>,
}

impl ScriptedHub {
    /// Serves until the runtime ends. With a token, requests without it get 401.
    pub async fn serve(folder: &Path, token: Option<&str>) -> anyhow::Result<Self> {
        let state = Arc::new(Hub {
            folder: folder.to_owned(),
            cuts: Mutex::default(),
            sent: Mutex::default(),
            token: token.map(|token| format!("Bearer {token}")),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(answer).with_state(state.clone());
        tokio::spawn(async { axum::serve(listener, router).await });
        Ok(Self { url, state })
    }

    pub fn cut(&self, path: &str, times: u32) {
        lock(&self.state.cuts).insert(path.to_owned(), times);
    }

    /// Bytes of files that the client received, including those sent last.
    pub fn sent(&self) -> u64 {
        lock(&self.state.sent).values().sum()
    }
}

async fn answer(State(hub): State<Arc<Hub>>, request: Request) -> Response {
    let received = request.headers().get(header::AUTHORIZATION);
    let token = hub.token.as_ref();
    if token.is_some_and(|token| received.is_none_or(|value| value != token)) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let path = request.uri().path().to_owned();
    let tree = format!("/api/datasets/tiny/set/tree/{COMMIT}/");
    let file = format!("/datasets/tiny/set/resolve/{COMMIT}/");
    if path == "/api/datasets/tiny/set/revision/main" {
        axum::Json(json!({"sha": COMMIT})).into_response()
    } else if let Some(folder) = path.strip_prefix(&tree) {
        axum::Json(json!(hub.tree(folder))).into_response()
    } else if let Some(path) = path.strip_prefix(&file) {
        hub.file(path, request.headers())
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}

impl Hub {
    fn tree(&self, folder: &str) -> Vec<serde_json::Value> {
        let mut waiting = vec![self.folder.join(folder)];
        let mut entries = Vec::new();
        while let Some(next) = waiting.pop() {
            for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap_or_default();
                let name = path.strip_prefix(&self.folder).unwrap_or(&path);
                entries.push(json!({
                    "type": "file",
                    "path": name,
                    "size": bytes.len(),
                    "oid": "f".repeat(40),
                    "lfs": {"oid": sha256_hex(&bytes), "size": bytes.len(), "pointerSize": 130},
                }));
            }
        }
        entries
    }

    fn file(&self, path: &str, headers: &HeaderMap) -> Response {
        let Ok(bytes) = std::fs::read(self.folder.join(path)) else {
            return StatusCode::NOT_FOUND.into_response();
        };
        let from: Option<usize> = headers.get(header::RANGE).and_then(|range| {
            let range = range.to_str().ok()?.strip_prefix("bytes=")?;
            range.strip_suffix('-')?.parse().ok()
        });
        let whole = bytes.len();
        let mut part = bytes[from.unwrap_or(0).min(whole)..].to_vec();
        let announced = part.len();
        if let Some(cuts) = lock(&self.cuts).get_mut(path).filter(|cuts| **cuts > 0) {
            *cuts -= 1;
            part.truncate(announced / 2);
        }
        // A client that resumes reports how much it received, which may be less
        // than what the cut connection sent.
        let mut sent = lock(&self.sent);
        let sent = sent.entry(path.to_owned()).or_default();
        *sent = from.map_or(*sent, |from| from as u64) + part.len() as u64;
        let mut response = Response::builder().header(header::CONTENT_LENGTH, announced);
        if let Some(from) = from {
            let range = format!("bytes {from}-{}/{whole}", whole.saturating_sub(1));
            response = response
                .status(StatusCode::PARTIAL_CONTENT)
                .header(header::CONTENT_RANGE, range);
        }
        let cut = (part.len() < announced).then(|| Err(std::io::Error::other("cut")));
        let body = [Ok(bytes::Bytes::from(part))].into_iter().chain(cut);
        let body = futures::stream::iter(body);
        response
            .body(axum::body::Body::from_stream(body))
            .unwrap_or_default()
    }
}
