//! Rules of ARCHITECTURE.md that the compiler does not keep.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// The rooms of the engine and what each may use of the others. Rooms that
/// are not listed are used by everyone and use none of these.
const ROOMS: &[(&str, &[&str])] = &[
    ("store", &[]),
    ("artifacts", &[]),
    ("sandbox", &[]),
    ("images", &["sandbox"]),
    ("shelf", &["sandbox", "images"]),
    ("events", &[]),
    ("suite", &["sandbox"]),
    (
        "dataset",
        &["store", "artifacts", "sandbox", "images", "shelf", "suite"],
    ),
    (
        "curation",
        &["store", "sandbox", "images", "suite", "dataset"],
    ),
    ("gateway", &[]),
    ("harness", &["sandbox", "images", "suite", "dataset"]),
    (
        "evolve",
        &[
            "store",
            "artifacts",
            "sandbox",
            "events",
            "suite",
            "dataset",
            "gateway",
            "harness",
            "keys",
        ],
    ),
    ("queue", &["store", "evolve"]),
    ("programs", &["sandbox", "harness"]),
    (
        "check",
        &[
            "store",
            "artifacts",
            "sandbox",
            "events",
            "dataset",
            "gateway",
            "evolve",
            "programs",
            "shelf",
        ],
    ),
    ("trajectory", &["gateway"]),
    ("said", &["store", "gateway", "trajectory"]),
    ("doctor", &[]),
    ("published", &[]),
    ("secrets", &[]),
    ("keys", &["store", "secrets"]),
    ("notifications", &["store", "gateway", "keys"]),
    ("prices", &["store"]),
    ("read", &["store"]),
    ("tasks", &["read", "store", "dataset", "submitting"]),
    ("disk", &["sandbox", "images", "shelf", "harness"]),
    ("evolutions", &["read", "store"]),
    ("access", &["store"]),
    ("accounts", &["read", "store"]),
    ("publishing", &[]),
    ("submitting", &["store", "gateway", "evolve", "keys"]),
    ("configuration", &[]),
    ("preview", &["store"]),
    ("diffs", &[]),
    ("inspect", &["store", "suite", "dataset"]),
    ("matrix", &[]),
    ("models", &[]),
    ("listing", &["store"]),
    ("sheets", &[]),
    ("steering", &["store", "gateway"]),
    ("scores", &["store", "published", "sheets"]),
    ("rescore", &["store"]),
    ("verify", &["store", "sandbox", "suite"]),
    ("preflight", &["store", "check", "verify"]),
    ("results", &["store", "dataset"]),
    (
        "work",
        &[
            "store",
            "sandbox",
            "images",
            "dataset",
            "harness",
            "evolve",
            "queue",
            "preflight",
        ],
    ),
];

#[test]
fn inside_the_engine_dependencies_run_one_way() {
    let source = root().join("engine/src");
    for &(room, allowed) in ROOMS {
        let used: BTreeSet<String> = files_of(&source, room)
            .iter()
            .flat_map(|file| rooms_used(file))
            .collect();
        for other in &used {
            let known = ROOMS.iter().any(|(name, _)| name == other);
            let fine = !known || other == room || allowed.contains(&other.as_str());
            assert!(
                fine,
                "engine::{room} may not use engine::{other}; see ARCHITECTURE.md"
            );
        }
    }
}

/// The source of a room without its tests, which may set up anything.
fn files_of(source: &Path, room: &str) -> Vec<PathBuf> {
    let mut files = files_below(&source.join(room));
    files.push(source.join(format!("{room}.rs")));
    files.retain(|file| file.exists() && !file.ends_with("tests.rs"));
    assert!(
        !files.is_empty(),
        "the room {room} has moved; bring this test up to date"
    );
    files
}

/// All files below a folder; none when there is no such folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

/// First path segments after `crate::` in the code of a file.
fn rooms_used(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let segment = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    lines
        .flat_map(|line| {
            line.split("crate::")
                .skip(1)
                .map(segment)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn the_browser_half_carries_no_server() {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "--package",
            "swe-ci-app",
            "--no-default-features",
            "--features",
            "hydrate",
        ])
        .args([
            "--target",
            "wasm32-unknown-unknown",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--locked",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.contains("swe-ci-core"));
    for server in [
        "swe-ci-engine",
        "sqlx",
        "sqlx-core",
        "bollard",
        "mio",
        "axum",
        "git2",
        "reqwest",
    ] {
        assert!(
            !names.contains(server),
            "the browser half depends on {server}"
        );
    }
}

#[test]
fn core_is_pure() {
    let files = files_below(&root().join("core/src"));
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for world in [
            "std::fs",
            "std::net",
            "std::time",
            "std::env",
            "std::process",
            "std::thread",
            "tokio",
        ] {
            assert!(!text.contains(world), "{} uses {world}", file.display());
        }
    }
}
