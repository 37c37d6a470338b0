//! Tests of the client against a fake hub with programmable faults.

mod download;
mod folders;
mod listing;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use secrecy::SecretString;
use serde_json::json;
use sha2::{Digest, Sha256};
use swe_ci_base::retry::Retries;
use swe_ci_git::{ObjectId, ObjectKind};

use super::retry::Timing;
use super::{Checksum, Hub, Pinned, RemoteFile, RemotePath};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const TOKEN: &str = "hf_verysecret";
const PAGE: usize = 2;

/// A fault in the response to one request for a file.
#[derive(Debug, Clone)]
enum Fault {
    /// Sends this many bytes, then cuts the connection.
    Cut(usize),
    /// Sends this many bytes, then stays silent.
    Stall(usize),
    /// Flips one bit.
    Corrupt,
    /// Sends the whole file with status 200, whatever range was requested.
    NoRange,
    /// Sends another range than the requested one.
    OtherRange,
    /// Sends more bytes than the list says; announces the length or not.
    TooLong {
        announced: bool,
    },
    /// Sends a complete response with fewer bytes.
    Short(usize),
    Answer(StatusCode, Vec<(&'static str, String)>),
}

/// A received request for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileRequest {
    range: Option<String>,
    authorization: Option<String>,
    /// How many bytes of the file were sent.
    sent: usize,
}

#[derive(Debug, Default)]
struct Site {
    files: BTreeMap<String, Vec<u8>>,
    /// Faults of the next requests for files, one each.
    faults: Mutex<VecDeque<Fault>>,
    /// The fault of all later requests.
    always: Mutex<Option<Fault>>,
    received: Mutex<Vec<FileRequest>>,
    /// Responses to requests whose path starts with this one.
    answers: Mutex<Vec<(String, StatusCode, HeaderMap, String)>>,
    /// Requests to the API, with their queries.
    api: Mutex<Vec<String>>,
    delay: Duration,
    open: AtomicUsize,
    max_open: AtomicUsize,
}

/// A running server.
struct Server {
    site: Arc<Site>,
    url: String,
}

impl Site {
    fn with(files: &[(&str, Vec<u8>)]) -> Self {
        let files = files
            .iter()
            .map(|(path, bytes)| ((*path).to_owned(), bytes.clone()));
        Self {
            files: files.collect(),
            ..Self::default()
        }
    }

    async fn serve(self) -> Server {
        let site = Arc::new(self);
        let router = Router::new().fallback(answer).with_state(site.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, router).await });
        Server { site, url }
    }

    fn tree(&self, host: &str, folder: &str, query: &str) -> Response {
        let from: usize = query
            .split("cursor=")
            .nth(1)
            .map_or(0, |cursor| cursor.parse().unwrap());
        let mut entries = vec![json!({"type": "directory", "path": folder, "oid": "d", "size": 0})];
        let below = format!("{folder}/");
        for (path, bytes) in self
            .files
            .iter()
            .filter(|(path, _)| path.starts_with(&below))
        {
            let mut entry =
                json!({"type": "file", "path": path, "size": bytes.len(), "oid": git_blob(bytes)});
            if is_lfs(path) {
                entry["oid"] = "f".repeat(40).into();
                entry["lfs"] =
                    json!({"oid": sha256(bytes), "size": bytes.len(), "pointerSize": 130});
            }
            entries.push(entry);
        }
        let page: Vec<_> = entries.iter().skip(from).take(PAGE).collect();
        let mut response = axum::Json(json!(page)).into_response();
        if from + PAGE < entries.len() {
            let next = from + PAGE;
            let link = format!(
                "<http://{host}/api/datasets/o/n/tree/{COMMIT}/{folder}?cursor={next}>; rel=\"next\""
            );
            response
                .headers_mut()
                .insert(header::LINK, link.parse().unwrap());
        }
        response
    }

    fn file(&self, path: &str, headers: &HeaderMap) -> Response {
        let Some(bytes) = self.files.get(path) else {
            return StatusCode::NOT_FOUND.into_response();
        };
        let text = |name| {
            headers
                .get(name)
                .map(|v: &header::HeaderValue| v.to_str().unwrap().to_owned())
        };
        let range = text(header::RANGE);
        let from: usize = range.as_ref().map_or(0, |range| {
            let from = range
                .strip_prefix("bytes=")
                .unwrap()
                .strip_suffix('-')
                .unwrap();
            from.parse().unwrap()
        });
        let fault = self.faults.lock().unwrap().pop_front();
        let fault = fault.or_else(|| self.always.lock().unwrap().clone());
        let (response, sent) = content(bytes, from, fault);
        self.received.lock().unwrap().push(FileRequest {
            range,
            authorization: text(header::AUTHORIZATION),
            sent,
        });
        response
    }
}

async fn answer(State(site): State<Arc<Site>>, request: Request) -> Response {
    let now = site.open.fetch_add(1, Ordering::SeqCst) + 1;
    site.max_open.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(site.delay).await;
    let response = route(&site, &request);
    site.open.fetch_sub(1, Ordering::SeqCst);
    response
}

fn route(site: &Site, request: &Request) -> Response {
    let path = request.uri().path();
    let query = request.uri().query().unwrap_or_default();
    if path.starts_with("/api/") {
        site.api.lock().unwrap().push(format!("{path}?{query}"));
    }
    let answers = site.answers.lock().unwrap();
    if let Some((_, status, headers, body)) = answers.iter().find(|(at, ..)| path.starts_with(at)) {
        return (*status, headers.clone(), body.clone()).into_response();
    }
    let tree = format!("/api/datasets/o/n/tree/{COMMIT}/");
    let resolve = format!("/datasets/o/n/resolve/{COMMIT}/");
    if let Some(folder) = path.strip_prefix(&tree) {
        let host = request.headers()[header::HOST].to_str().unwrap();
        site.tree(host, folder, query)
    } else if let Some(file) = path.strip_prefix(&resolve) {
        site.file(file, request.headers())
    } else if path == "/api/datasets/o/n/revision/main" {
        axum::Json(json!({"id": "o/n", "sha": COMMIT, "siblings": []})).into_response()
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}

/// A response with the file from byte `from` on, and how many bytes it sends.
fn content(bytes: &[u8], from: usize, fault: Option<Fault>) -> (Response, usize) {
    let (total, rest) = (bytes.len(), &bytes[from..]);
    let part = |start: usize, body: Body, length: Option<usize>| {
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        if let Some(length) = length {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        if from > 0 {
            let range = format!("bytes {start}-{}/{total}", total - 1);
            headers.insert(header::CONTENT_RANGE, range.parse().unwrap());
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        response
    };
    let length = Some(rest.len());
    match fault {
        None => (part(from, Body::from(rest.to_vec()), length), rest.len()),
        Some(Fault::Cut(sent)) => {
            let cut = async {
                // Lets the earlier bytes leave first.
                tokio::time::sleep(Duration::from_millis(300)).await;
                Err(std::io::Error::other("cut"))
            };
            (part(from, beginning(rest, sent, cut), length), sent)
        }
        Some(Fault::Stall(sent)) => {
            let body = beginning(rest, sent, std::future::pending());
            (part(from, body, length), sent)
        }
        Some(Fault::Corrupt) => {
            let mut wrong = rest.to_vec();
            wrong[0] ^= 1;
            (part(from, Body::from(wrong), length), rest.len())
        }
        Some(Fault::NoRange) => (Response::new(Body::from(bytes.to_vec())), total),
        Some(Fault::OtherRange) => {
            let body = Body::from(rest[1..].to_vec());
            (part(from + 1, body, None), rest.len() - 1)
        }
        Some(Fault::TooLong { announced }) => {
            let more = [rest, b"more"].concat();
            let sent = more.len();
            let body = if announced {
                Body::from(more)
            } else {
                Body::from_stream(stream::iter([Ok::<_, std::io::Error>(Bytes::from(more))]))
            };
            (part(from, body, None), sent)
        }
        Some(Fault::Short(sent)) => (part(from, Body::from(rest[..sent].to_vec()), None), sent),
        Some(Fault::Answer(status, headers)) => {
            let mut response = status.into_response();
            for (name, value) in headers {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            (response, 0)
        }
    }
}

/// The first bytes, followed by `end`.
fn beginning(
    rest: &[u8],
    sent: usize,
    end: impl Future<Output = std::io::Result<Bytes>> + Send + 'static,
) -> Body {
    let first = Bytes::copy_from_slice(&rest[..sent]);
    let first = stream::iter([Ok::<_, std::io::Error>(first)]);
    Body::from_stream(first.chain(stream::once(end)))
}

impl Server {
    fn hub(&self) -> Hub {
        self.hub_with(timing())
    }

    fn hub_with(&self, timing: Timing) -> Hub {
        Hub::with_timing(&self.url, Some(SecretString::from(TOKEN)), None, timing).unwrap()
    }

    /// A file in the hub's list.
    fn listed(&self, path: &str) -> RemoteFile {
        let bytes = &self.site.files[path];
        let checksum = if is_lfs(path) {
            Checksum::sha256(&sha256(bytes))
        } else {
            Checksum::git_blob(&git_blob(bytes))
        };
        RemoteFile {
            path: RemotePath::new(path).unwrap(),
            size: bytes.len() as u64,
            checksum: checksum.unwrap(),
        }
    }

    fn all(&self) -> Vec<RemoteFile> {
        self.site
            .files
            .keys()
            .map(|path| self.listed(path))
            .collect()
    }

    fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.site.faults.lock().unwrap().extend(faults);
    }

    fn always(&self, fault: Fault) {
        *self.site.always.lock().unwrap() = Some(fault);
    }

    /// The requests for files since the last call.
    fn received(&self) -> Vec<FileRequest> {
        std::mem::take(&mut *self.site.received.lock().unwrap())
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.received()
            .into_iter()
            .map(|received| received.range)
            .collect()
    }
}

fn timing() -> Timing {
    Timing {
        connect: Duration::from_secs(5),
        read_timeout: Duration::from_secs(10),
        retries: Retries {
            first_delay: Duration::from_millis(5),
            max_delay: Duration::from_millis(20),
            max_requested: Duration::from_secs(5),
            tries: 4,
        },
    }
}

fn pinned() -> Pinned {
    Pinned::new("o/n".parse().unwrap(), COMMIT).unwrap()
}

fn is_lfs(path: &str) -> bool {
    !path.ends_with(".csv")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

fn git_blob(bytes: &[u8]) -> String {
    ObjectId::of_object(ObjectKind::Blob, bytes).to_string()
}

/// Bytes that differ by position.
fn bytes(count: usize) -> Vec<u8> {
    (0..count)
        .map(|at| (at % 251) as u8 ^ (at / 251) as u8)
        .collect()
}

/// The files below a folder, without the record.
fn on_disk(folder: &Path) -> Vec<String> {
    let mut waiting = vec![folder.to_owned()];
    let mut names = Vec::new();
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap();
                names.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    names.retain(|name| name != super::path::RECORD);
    names.sort();
    names
}
