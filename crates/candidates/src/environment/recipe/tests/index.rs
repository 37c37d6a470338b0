//! Runs `index.py` with the host's Python against a local index.

use std::process::{Command, Output};

use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde_json::{Value, json};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/environment/recipe/index.py"
);
/// Prints the response of the script's index.
const ASK: &str = "import os, sys, urllib.request\n\
    page = os.environ['PIP_INDEX_URL'] + '/' + sys.argv[1] + '/'\n\
    print(urllib.request.urlopen(page).read().decode())\n";

async fn project(name: axum::extract::Path<String>) -> axum::response::Response {
    let file = |filename: &str, requires: Value, yanked: bool, reason: Value| {
        json!({
            "filename": filename, "url": format!("../../files/{filename}"), "size": 7,
            "digests": {"sha256": "ab", "md5": "cd"}, "requires_python": requires,
            "upload_time_iso_8601": "2021-05-05T14:18:18.379524Z",
            "yanked": yanked, "yanked_reason": reason,
        })
    };
    match name.as_str() {
        "six" => axum::Json(json!({"info": {}, "releases": {
            "1.0": [file("six-1.0.tar.gz", Value::Null, true, Value::Null)],
            "1.1": [file("six-1.1.tar.gz", json!(">=3"), true, json!("broken"))],
            "1.2": [file("six-1.2.tar.gz", Value::Null, false, Value::Null)],
            "1.3": [],
        }}))
        .into_response(),
        "odd" => "no JSON".into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Serves the index and runs a Python program with the index the script makes
/// of it. Returns the address of the first.
async fn ask(arguments: &[&str]) -> (String, Output) {
    let app = axum::Router::new().route("/pypi/{project}/json", axum::routing::get(project));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut python = Command::new("python3");
    python.args([SCRIPT, &format!("{url}/simple/"), "python3", "-c"]);
    python.args(arguments);
    let run = tokio::task::spawn_blocking(move || python.output().unwrap());
    (url, run.await.unwrap())
}

#[tokio::test]
async fn times_are_told() {
    let (url, output) = ask(&[ASK, "six"]).await;
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = |filename: &str, yanked: Value| {
        json!({
            "filename": filename, "url": format!("{url}/files/{filename}"), "size": 7,
            "hashes": {"sha256": "ab"}, "upload-time": "2021-05-05T14:18:18.379524Z",
            "yanked": yanked,
        })
    };
    let mut files = vec![
        file("six-1.0.tar.gz", json!(true)),
        file("six-1.1.tar.gz", json!("broken")),
        file("six-1.2.tar.gz", json!(false)),
    ];
    files[1]["requires-python"] = json!(">=3");
    let expect = json!({
        "meta": {"api-version": "1.1"}, "name": "six", "files": files,
        "versions": ["1.0", "1.1", "1.2", "1.3"],
    });
    assert_eq!(response, expect);
}

#[tokio::test]
async fn missing_projects_and_invalid_responses() {
    for (project, status, says) in [
        ("none", "404", ""),
        ("odd", "502", "ERROR: the package index"),
    ] {
        let (_, output) = ask(&[ASK, project]).await;
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(&format!("HTTP Error {status}")), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    }
}

#[tokio::test]
async fn the_command_decides_how_it_ends() {
    let (_, output) = ask(&["import sys; sys.exit(7)"]).await;
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}
