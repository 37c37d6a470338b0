//! Tests the client against a local GitHub that misbehaves on demand.

mod hostile;
mod limits;
mod slices;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};
use swe_ci_base::retry::Retries;

use super::limits::Pace;
use super::{GitHub, GitHubError, Progress, Search, SearchResults};

const TOKEN: &str = "ghp_verysecret";

/// A received request.
#[derive(Debug, Clone)]
struct ReceivedRequest {
    path: String,
    parameters: HashMap<String, String>,
    authorization: Option<String>,
}

impl ReceivedRequest {
    fn page(&self) -> usize {
        self.parameters["page"].parse().unwrap()
    }

    /// The value of a qualifier in the query.
    fn qualifier(&self, name: &str) -> Option<&str> {
        let mut parts = self.parameters["q"].split(' ');
        parts.find_map(|part| part.strip_prefix(name)?.strip_prefix(':'))
    }

    fn has_stars(&self, stars: u64) -> bool {
        let range = self.qualifier("stars").unwrap();
        match (range.strip_prefix(">="), range.split_once("..")) {
            (Some(from), _) => stars >= from.parse().unwrap(),
            (_, Some((from, to))) => (from.parse().unwrap()..=to.parse().unwrap()).contains(&stars),
            _ => panic!("{range}"),
        }
    }
}

type Reply = (StatusCode, HeaderMap, String);

#[derive(Debug, Default)]
struct Site {
    repositories: Vec<Value>,
    /// Root entries by repository name.
    roots: BTreeMap<String, Value>,
    /// Responses to the next requests, one each; None for the regular response.
    replies: Mutex<VecDeque<Option<Reply>>>,
    /// The response to all requests after those.
    always: Mutex<Option<Reply>>,
    /// The number of searches that time out from now on.
    timeouts: AtomicUsize,
    requests: Mutex<Vec<ReceivedRequest>>,
    delay: Duration,
    open: AtomicUsize,
    most_open: AtomicUsize,
}

/// A running server.
struct Server {
    site: Arc<Site>,
    url: String,
}

impl Server {
    /// `site` makes the repositories for a server at that address.
    async fn with_site(site: impl FnOnce(&str) -> Site) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let site = Arc::new(site(&host));
        let router = Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async { axum::serve(listener, router).await });
        let url = format!("http://{host}");
        Self { site, url }
    }

    async fn with(stars: impl IntoIterator<Item = u64>) -> Self {
        Self::with_site(|host| Site {
            repositories: (0_u64..)
                .zip(stars)
                .map(|(number, stars)| repository(host, number, stars))
                .collect(),
            ..Site::default()
        })
        .await
    }

    fn github(&self) -> GitHub {
        let token = Some(SecretString::from(TOKEN));
        GitHub::with_pace(&self.url, token, None, pace()).unwrap()
    }

    async fn search(&self, search: &Search) -> Result<SearchResults, GitHubError> {
        self.github().search(search, now(), &|_| {}).await
    }

    /// Sets the response to the next request; an empty body is an empty page.
    fn reply(&self, status: u16, headers: &[(&'static str, &str)], body: &str) {
        let reply = reply(status, headers, body);
        self.site.replies.lock().unwrap().push_back(Some(reply));
    }

    fn always(&self, status: u16, headers: &[(&'static str, &str)], body: &str) {
        *self.site.always.lock().unwrap() = Some(reply(status, headers, body));
    }

    fn requests(&self) -> Vec<ReceivedRequest> {
        self.site.requests.lock().unwrap().clone()
    }
}

fn reply(status: u16, headers: &[(&'static str, &str)], body: &str) -> Reply {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), map, body.to_owned())
}

fn pace() -> Pace {
    Pace {
        retries: Retries {
            first_delay: Duration::from_millis(1),
            max_requested: Duration::from_secs(5),
            tries: 4,
            ..Pace::default().retries
        },
        unannounced: Duration::from_millis(20),
        margin: Duration::ZERO,
        ..Pace::default()
    }
}

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

/// The search most tests use: one licence and no other criteria.
fn search() -> Search {
    Search {
        licences: vec!["mit".into()],
        most: 100_000,
        ..Search::default()
    }
}

fn repository(host: &str, number: u64, stars: u64) -> Value {
    let name = format!("o/n{number:05}");
    json!({
        "full_name": name, "clone_url": format!("https://{host}/{name}.git"),
        "stargazers_count": stars, "license": {"key": "mit"},
        "created_at": "2020-01-01T00:00:00Z", "pushed_at": "2025-12-01T00:00:00Z",
        "default_branch": "main", "size": 12, "archived": false, "fork": false,
    })
}

/// Runs a search and returns its progress and results.
async fn search_with_progress(
    github: &GitHub,
    search: &Search,
) -> (Result<SearchResults, GitHubError>, Vec<Progress>) {
    let events = Mutex::new(Vec::new());
    let listener = |progress| events.lock().unwrap().push(progress);
    let found = github.search(search, now(), &listener).await;
    (found, events.into_inner().unwrap())
}

async fn answer(
    State(site): State<Arc<Site>>,
    Query(parameters): Query<HashMap<String, String>>,
    request: Request,
) -> Response {
    let open = site.open.fetch_add(1, Ordering::SeqCst) + 1;
    site.most_open.fetch_max(open, Ordering::SeqCst);
    tokio::time::sleep(site.delay).await;
    let authorization = request.headers().get(header::AUTHORIZATION);
    let request = ReceivedRequest {
        path: request.uri().path().to_owned(),
        parameters,
        authorization: authorization.map(|value| value.to_str().unwrap().to_owned()),
    };
    site.requests.lock().unwrap().push(request.clone());
    let reply = site.replies.lock().unwrap().pop_front().flatten();
    let reply = reply.or_else(|| site.always.lock().unwrap().clone());
    site.open.fetch_sub(1, Ordering::SeqCst);
    match reply {
        Some(reply) => reply.into_response(),
        None => site.answer(&request),
    }
}

impl Site {
    fn answer(&self, request: &ReceivedRequest) -> Response {
        if request.path == "/search/repositories" {
            return self.page(request);
        }
        let root = request.path.strip_prefix("/repos/");
        let root = root.and_then(|path| path.strip_suffix("/contents"));
        match root.and_then(|name| self.roots.get(name)) {
            Some(entries) => axum::Json(entries.clone()).into_response(),
            None => reply(404, &[], r#"{"message":"Not Found"}"#).into_response(),
        }
    }

    fn page(&self, request: &ReceivedRequest) -> Response {
        assert_eq!(request.parameters["sort"], "stars");
        assert_eq!(request.parameters["order"], "desc");
        let stars = |repository: &Value| repository["stargazers_count"].as_u64().unwrap();
        let fits = |repository: &&Value| {
            request.has_stars(stars(repository))
                && request
                    .qualifier("license")
                    .is_none_or(|licence| repository["license"]["key"] == licence)
        };
        let mut all: Vec<_> = self.repositories.iter().filter(fits).collect();
        all.sort_by_key(|repository| std::cmp::Reverse(stars(repository)));
        let per_page: usize = request.parameters["per_page"].parse().unwrap();
        let from = (request.page() - 1) * per_page;
        if from >= 1_000 {
            let body = r#"{"message":"Only the first 1000 search results are available"}"#;
            return reply(422, &[], body).into_response();
        }
        let late = |left: usize| left.checked_sub(1);
        let timeouts = &self.timeouts;
        let late = timeouts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, late);
        let items: Vec<_> = all.iter().skip(from).take(per_page).collect();
        axum::Json(json!({
            "total_count": all.len(), "incomplete_results": late.is_ok(), "items": items,
        }))
        .into_response()
    }
}
