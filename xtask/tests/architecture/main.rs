//! Rules of ARCHITECTURE.md that the compiler does not keep.

mod modules;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use modules::Modules;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// The crates and what each may use of the others, from the ground up.
const CRATES: &[(&str, &[&str])] = &[
    ("swe-ci-boxed", &[]),
    ("swe-ci-metrics", &[]),
    ("swe-ci-core", &["metrics"]),
    ("swe-ci-views", &["core"]),
    ("swe-ci-plots", &["core", "views"]),
    ("swe-ci-relay", &[]),
    ("swe-ci-acp", &[]),
    ("swe-ci-base", &["core"]),
    ("swe-ci-git", &["base"]),
    ("swe-ci-hub", &["base", "git"]),
    ("swe-ci-measure", &["views", "base", "git"]),
    ("swe-ci-candidates", &["base", "git", "hub"]),
    ("swe-ci-testing", &["core", "base"]),
    ("swe-ci-store", &["core", "views", "base"]),
    ("swe-ci-sandbox", &["core", "views", "base"]),
    ("swe-ci-gateway", &["core", "views", "base"]),
    ("swe-ci-grading", &["core", "base", "sandbox"]),
    (
        "swe-ci-dataset",
        &[
            "core",
            "views",
            "base",
            "store",
            "sandbox",
            "git",
            "grading",
            "hub",
            "candidates",
        ],
    ),
    (
        "swe-ci-curation",
        &[
            "core",
            "views",
            "base",
            "store",
            "sandbox",
            "git",
            "grading",
            "dataset",
            "candidates",
        ],
    ),
    (
        "swe-ci-runner",
        &[
            "core", "views", "base", "store", "sandbox", "grading", "gateway", "dataset",
        ],
    ),
    (
        "swe-ci-engine",
        &[
            "core",
            "boxed",
            "views",
            "base",
            "store",
            "sandbox",
            "grading",
            "gateway",
            "dataset",
            "runner",
            "git",
            "hub",
            "candidates",
            "curation",
            "measure",
        ],
    ),
    ("swe-ci-islands", &["metrics"]),
    (
        "swe-ci-app",
        &["core", "views", "plots", "islands", "engine"],
    ),
    ("swe-ci", &["core", "views", "plots", "engine", "app"]),
    ("xtask", &[]),
    ("e2e", &["core", "views", "engine", "testing"]),
];

#[test]
fn between_crates_dependencies_run_one_way() {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--no-deps", "--format-version", "1", "--locked"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    let listed: BTreeSet<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    assert_eq!(ours, listed, "every crate has a line in CRATES");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let (_, allowed) = CRATES.iter().find(|(listed, _)| *listed == name).unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            let for_tests = dependency["kind"] == "dev";
            if for_tests || !ours.contains(other) {
                continue;
            }
            let other = other.trim_start_matches("swe-ci-");
            assert!(
                allowed.contains(&other),
                "{name} may not depend on {other}; see ARCHITECTURE.md"
            );
        }
    }
}

/// The rooms of the engine and what each may use of the others. `api` is the
/// façade: it may use all of them.
const ROOMS: &[(&str, &[&str])] = &[
    ("api", &[]),
    ("background", &[]),
    ("byte_cache", &["heavy_reads"]),
    ("config", &["notifications", "style_tools"]),
    ("diffs", &["byte_cache", "heavy_reads"]),
    ("digests", &["diffs", "heavy_reads"]),
    ("doctor", &[]),
    ("experiments", &["run_configuration"]),
    ("harness_check", &["api"]),
    ("heavy_reads", &[]),
    ("leaderboard_cache", &[]),
    ("local_work", &[]),
    ("notifications", &[]),
    ("published", &[]),
    ("results", &[]),
    ("run_configuration", &[]),
    ("style_tools", &[]),
    ("submitted", &["api"]),
    ("testing", &[]),
];

#[test]
fn inside_the_engine_dependencies_run_one_way() {
    let modules = Modules::read(&root().join("crates/engine/src/lib.rs"));
    let listed: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    assert_eq!(modules.rooms(), listed, "every module has a line in ROOMS");
    for (room, allowed) in ROOMS {
        for other in modules.rooms_named_by(room) {
            assert!(
                *room == "api" || allowed.contains(&other),
                "engine::{room} may not use engine::{other}; see ARCHITECTURE.md"
            );
        }
    }
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    let mut all = Vec::new();
    for folder in folders_of_crates() {
        for name in ["lib.rs", "main.rs"] {
            let file = folder.join("src").join(name);
            if file.exists() {
                let circles = Modules::read(&file).circles();
                all.extend(circles.into_iter().map(|c| (folder.clone(), c)));
            }
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}

fn folders_of_crates() -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    let others = ["app", "server", "xtask", "e2e"].map(|name| root().join(name));
    crates.chain(others).collect()
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

#[test]
fn the_browser_half_carries_no_server() {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "--package",
            "swe-ci-islands",
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
    assert!(names.contains("swe-ci-metrics"));
    for server in [
        "swe-ci-engine",
        "sqlx",
        "sqlx-core",
        "bollard",
        "mio",
        "axum",
        "swe-ci-git",
        "reqwest",
        "leptos_router",
        "plotters",
    ] {
        assert!(
            !names.contains(server),
            "the browser half depends on {server}"
        );
    }
}

#[test]
fn core_and_views_are_pure() {
    for folder in ["crates/metrics/src", "crates/core/src", "crates/views/src"] {
        let files = files_below(&root().join(folder));
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
}

/// Else a slow test would run in no tier.
#[test]
fn tests_that_are_left_out_are_in_the_list_of_slow_tests() {
    let list = std::fs::read_to_string(root().join("scripts/slow-tests.txt")).unwrap();
    let listed: Vec<&str> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut columns = line.split_whitespace();
            let name = columns.next()?;
            let seconds = columns.next().unwrap_or_default();
            assert!(seconds.parse::<u32>().is_ok(), "no seconds: {line}");
            Some(name)
        })
        .collect();
    let mut unused: BTreeSet<&str> = listed.iter().copied().collect();
    let sources = folders_of_crates()
        .into_iter()
        .filter(|f| !f.ends_with("xtask"));
    let sources = sources.flat_map(|folder| files_below(&folder));
    for path in sources.filter(|path| path.extension().is_some_and(|e| e == "rs")) {
        let (text, module) = (std::fs::read_to_string(&path).unwrap(), path.file_stem());
        let module = module.unwrap().to_string_lossy();
        for ignored in text.split("#[ignore").skip(1) {
            let name = ignored.split_once("fn ").unwrap().1;
            let name = format!("{module}::{}", name.split('(').next().unwrap());
            let row = listed.iter().find(|listed| name.starts_with(**listed));
            if let (true, Some(row)) = (ignored.starts_with(" = \"slow: "), row) {
                unused.remove(row);
            } else {
                // test-cluster.sh runs these.
                let of_cluster = ["cases", "slurm"].contains(&&*module);
                assert!(of_cluster, "{name} is not in scripts/slow-tests.txt");
            }
        }
    }
    assert!(unused.is_empty(), "no such slow test: {unused:?}");
}
