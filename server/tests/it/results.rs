//! Results made elsewhere, on the command line: scored, imported, rescored.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::cli::{program, stderr};

/// An experiment and its split's metadata file, in a folder of their own.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new(tasks: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut csv = "task_id,current_sha,target_sha,repo\n".to_owned();
        for task in tasks {
            csv += &format!("{task},aaaaaaa,bbbbbbb,repo/{task}\n");
        }
        std::fs::write(folder.path().join("mini.csv"), csv).unwrap();
        std::fs::create_dir(folder.path().join("model-x")).unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A file of the experiment.
    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path("model-x").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// `iteration.jsonl`: base, gap, and the passed tests of each iteration.
    fn task(&self, task: &str, base: u32, gap: u32, passes: &[Option<u32>]) {
        let target = base + gap;
        let line = |passed: &Option<u32>| match passed {
            Some(n) => json!({"gap": target.saturating_sub(*n), "pytest": {"passed": n}}),
            None => json!({"gap": -1, "pytest": {}}),
        };
        let lines: Vec<String> = [Some(base)]
            .iter()
            .chain(passes)
            .map(|passed| format!("{}\n", line(passed)))
            .collect();
        self.write(&format!("{task}/iteration.jsonl"), lines.concat());
    }

    /// Runs in the lab's folder, so that a stray file would be found there.
    fn run(&self, command: &mut Command, args: &[&str]) -> Output {
        command
            .current_dir(self.folder.path())
            .args(args)
            .output()
            .unwrap()
    }

    fn score(&self, args: &[&str]) -> Output {
        let all = [&["score", "model-x", "--metadata", "mini.csv"], args].concat();
        self.run(&mut program(), &all)
    }

    fn scored(&self, args: &[&str]) -> Value {
        json_of(&self.score(&[args, &["--json"]].concat()))
    }

    fn import(&self, args: &[&str]) -> Output {
        self.import_from("reference", args)
    }

    fn import_from(&self, layout: &str, args: &[&str]) -> Output {
        let import = ["import-results", "--from", layout, "model-x"];
        let named = ["--metadata", "mini.csv", "--model", "Model X"];
        self.run(&mut program(), &[&import[..], &named[..], args].concat())
    }
}

#[track_caller]
fn json_of(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn near(found: &Value, expect: f64) {
    let number = found.as_f64().unwrap();
    assert!((number - expect).abs() < 1e-9, "{number} is not {expect}");
}

fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all.sort();
    all
}

const SOLVED: [Option<u32>; 4] = [Some(12), Some(15), Some(8), Some(20)];

#[test]
fn the_worked_examples_of_the_metrics() {
    let check = |base, gap, passes: &[Option<u32>], n: &str, expect: f64| {
        let lab = Lab::new(&["a"]);
        lab.task("a", base, gap, passes);
        let scored = lab.scored(&["--max-iterations", n]);
        near(&scored["evoscore"], expect);
        near(&scored["tasks"][0]["evoscore"], expect);
    };
    check(10, 10, &SOLVED, "4", 0.375);
    check(10, 10, &SOLVED, "6", (0.375 * 4.0 + 2.0) / 6.0);
    check(10, 10, &[Some(12), None, Some(14)], "3", -0.4 / 3.0);
    check(0, 5, &[Some(0), Some(5)], "2", 0.5);

    let lab = Lab::new(&["a"]);
    lab.task("a", 0, 5, &[Some(0), Some(5)]);
    let scored = lab.scored(&["--max-iterations", "2", "--gamma", "2"]);
    near(&scored["evoscore"], 2.0 / 3.0);
    assert_eq!(scored["gamma"], 2.0);
}

#[test]
fn all_fields_and_the_skipped_tasks() {
    let lab = Lab::new(&["a", "b", "cut", "missing"]);
    lab.task("a", 10, 10, &SOLVED);
    lab.task("b", 10, 10, &[Some(15)]);
    lab.task("stranger", 10, 10, &[Some(20)]);
    lab.write("cut/iteration.jsonl", "{\"gap\": 1, \"pyt");
    let before = listing(lab.folder.path());
    let scored = lab.scored(&["--max-iterations", "4"]);
    near(&scored["evoscore"], (0.375 + 0.5) / 2.0);
    near(&scored["solved_rate"], 0.5);
    near(&scored["zero_regression_rate"], 0.5);
    near(&scored["zrr"], 0.0);
    near(&scored["average_turns"], 2.5);
    assert_eq!(scored["convention"], "reference");
    assert_eq!(scored["profile"]["iterations"].as_array().unwrap().len(), 4);
    let interval = &scored["intervals"]["evoscore"];
    assert!(interval["low"].as_f64() < interval["high"].as_f64());
    let a = json!({"task_id": "a", "sample": 1, "evoscore": 0.375, "gap_closed": 1.0, "solved": true, "regressions": 1, "zero_regression": false, "zrr": false, "turns": 4});
    assert_eq!(scored["tasks"][0], a);
    assert_eq!(scored["ignored"], json!(["stranger"]));
    let skipped = scored["skipped"].as_array().unwrap();
    assert_eq!(
        (
            skipped.len(),
            &skipped[0]["task_id"],
            &skipped[1]["task_id"]
        ),
        (2, &json!("cut"), &json!("missing"))
    );
    let reason = skipped[0]["reason"].as_str().unwrap();
    assert!(reason.contains("cut/iteration.jsonl, line 1"), "{reason}");

    let output = lab.score(&["--max-iterations", "4"]);
    let table = String::from_utf8(output.stdout.clone()).unwrap();
    for part in [
        "EvoScore",
        "0.3750",
        "0.4375",
        "[0.3750, 0.5000]",
        "ZRR",
        "between repositories",
        "in four of five cases",
        "50.0 %",
        "2.5",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let message = stderr(&output);
    for part in ["skipped cut: ", "skipped missing: ", "ignored `stranger`"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(listing(lab.folder.path()), before, "it writes nothing");
}

#[test]
fn nothing_to_score_shows_in_json_and_exit_code() {
    let lab = Lab::new(&["a", "b"]);
    lab.write("a/iteration.jsonl", "");
    let output = lab.score(&["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let scored: Value = serde_json::from_slice(&output.stdout).unwrap();
    for field in [
        "evoscore",
        "solved_rate",
        "zero_regression_rate",
        "zrr",
        "average_turns",
        "intervals",
    ] {
        assert_eq!(scored[field], Value::Null, "{field}");
    }
    assert_eq!(
        (
            &scored["tasks"],
            scored["skipped"].as_array().unwrap().len()
        ),
        (&json!([]), 2)
    );
    assert!(stderr(&output).contains("error: no task could be scored"));

    // With counts alone, single tests are unknown.
    lab.task("a", 10, 10, &SOLVED);
    let output = lab.score(&["--convention", "paper"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("skipped a: it is known by counts alone"));
    assert!(output.stdout.is_empty());
}

#[test]
fn unusable_results_are_named_with_advice() {
    let lab = Lab::new(&["a"]);
    lab.task("a", 10, 10, &SOLVED);
    std::fs::write(lab.path("nonsense.csv"), b"\x00\xff,\"\n1").unwrap();
    let check = |args: &[&str], code: i32, expect: &[&str]| {
        let output = lab.run(&mut program(), args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
        for part in expect {
            assert!(message.contains(part), "{args:?}: {message}");
        }
    };
    let score = |folder, csv| ["score", folder, "--metadata", csv];
    check(
        &score("nowhere", "mini.csv"),
        1,
        &["nowhere", "next: ", "docs/results.md"],
    );
    check(
        &score("model-x", "nowhere.csv"),
        1,
        &["nowhere.csv", "next: "],
    );
    check(
        &score("model-x", "nonsense.csv"),
        1,
        &["nonsense.csv", "line 1"],
    );
    check(&["score", "model-x"], 2, &["--metadata"]);
    let option = |name, value| [&score("model-x", "mini.csv")[..], &[name, value]].concat();
    check(&option("--max-iterations", "0"), 2, &["1..=1000"]);
    check(&option("--gamma", "11"), 2, &["between 0.1 and 10"]);
    check(&option("--from", "x"), 2, &["reference, otter"]);
    let import = ["import-results", "model-x", "--metadata", "mini.csv"];
    check(&import, 2, &["--model"]);
    let dated = [
        &import[..],
        &["--model", "m", "--release-date", "2026-02-30"],
    ]
    .concat();
    check(&dated, 2, &["YYYY-MM-DD"]);
    assert!(!lab.path("data").exists());
}

#[test]
fn an_import_is_scored_as_its_files_are() {
    let lab = Lab::new(&["a", "b", "missing"]);
    lab.task("a", 10, 10, &SOLVED);
    lab.task("b", 10, 10, &[Some(12), None, Some(14)]);
    let first = json_of(&lab.import(&["--provider", "acme", "--json"]));
    assert_eq!(
        (&first["change"], &first["split"]),
        (&json!("new"), &json!("mini"))
    );
    assert_eq!(first["skipped"][0]["task_id"], "missing");
    let again = json_of(&lab.import(&["--provider", "acme", "--json"]));
    assert_eq!(
        (&again["change"], &again["run_id"]),
        (&json!("unchanged"), &first["run_id"])
    );

    let leaderboard = |convention| {
        let args = [
            "leaderboard",
            "--split",
            "mini",
            "--json",
            "--convention",
            convention,
        ];
        json_of(&lab.run(&mut program(), &args))
    };
    assert_eq!(leaderboard("reference"), json!([]), "a task is missing");
    let table = lab.run(&mut program(), &["leaderboard", "--split", "mini"]);
    assert!(stderr(&table).contains("incomplete: 2 of 3 tasks have a score"));

    lab.task("missing", 10, 10, &[Some(20)]);
    let grown = lab.import(&["--provider", "acme"]);
    assert_eq!(grown.status.code(), Some(0), "{}", stderr(&grown));
    let id = String::from_utf8(grown.stdout.clone()).unwrap();
    assert_eq!(id.trim(), first["run_id"].as_str().unwrap());
    assert!(stderr(&grown).contains("replaced: 3 scored evolutions of 3 tasks on `mini`"));
    assert!(stderr(&grown).contains("leaderboard --split mini --convention reference`"));
    let rows = leaderboard("reference");
    let scored = lab.scored(&[]);
    for field in [
        "evoscore",
        "solved_rate",
        "zero_regression_rate",
        "zrr",
        "average_turns",
    ] {
        assert_eq!(rows[0][field], scored[field], "{field}");
    }
    assert_eq!(
        (&rows[0]["kind"], &rows[0]["tasks"]),
        (&json!("imported"), &json!(3))
    );
    assert_eq!(
        leaderboard("paper"),
        json!([]),
        "it is known by counts alone"
    );
    let empty = lab.run(&mut program(), &["leaderboard", "--split", "mini"]);
    assert!(stderr(&empty).contains("`--convention reference` shows those"));
    near(&leaderboard("reference")[0]["solved_rate"], 2.0 / 3.0);

    let id = id.trim();
    let rescored = json_of(&lab.run(&mut program(), &["rescore", "--run", id, "--json"]));
    assert_eq!(
        (&rescored[0]["iterations"], &rescored[0]["changed"]),
        (&json!(8), &json!(0))
    );
    let table = lab.run(&mut program(), &["rescore", "--run", id]);
    assert!(String::from_utf8(table.stdout).unwrap().contains("Model X"));
    let all = lab.run(&mut program(), &["rescore"]);
    assert_eq!(all.status.code(), Some(0));
    assert!(all.stdout.is_empty() && stderr(&all).contains("current definitions"));
    let none = lab.run(&mut program(), &["rescore", "--run", "nobody"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("swe-ci read runs"));
}

/// Three old tests break while four others begin to pass.
#[test]
fn archived_reports_show_what_net_counts_hide() {
    let lab = Lab::new(&["a"]);
    lab.task("a", 4, 5, &[Some(5), Some(9)]);
    let report = |folder: &str, letters: &str| {
        let tests: Vec<Value> = (0..)
            .zip(letters.chars())
            .map(|(i, letter)| {
                let outcome = if letter == 'p' { "passed" } else { "failed" };
                json!({"nodeid": format!("tests/test_a.py::t{i}"), "outcome": outcome})
            })
            .collect();
        let passed = letters.matches('p').count();
        let report = json!({"exitcode": 1, "summary": {"passed": passed}, "tests": tests});
        lab.write(&format!("a/{folder}/test_report.json"), report.to_string());
    };
    report("target", "ppppppppp");
    report("2026-09-19-10-00-05", "ppppfffff");
    report("2026-09-19-10-00-15", "pfffppppf");
    report("current", "ppppppppp");
    let imported = json_of(&lab.import(&["--json"]));
    assert_eq!(imported["counts_only"], false);
    for (convention, rate) in [("reference", 1.0), ("paper", 0.0)] {
        let scored = lab.scored(&["--convention", convention]);
        near(&scored["zero_regression_rate"], rate);
        let args = ["leaderboard", "--json", "--convention", convention];
        let rows = json_of(&lab.run(&mut program(), &args));
        for field in [
            "evoscore",
            "solved_rate",
            "zero_regression_rate",
            "zrr",
            "average_turns",
        ] {
            assert_eq!(rows[0][field], scored[field], "{convention} {field}");
        }
    }
}

#[test]
fn a_bad_file_is_skipped_by_score_and_refused_by_import() {
    let base = "{\"gap\": 10, \"pytest\": {\"passed\": 10}}\n";
    let check = |spoil: &dyn Fn(&Lab), expect: &str| {
        let lab = Lab::new(&["a", "b"]);
        lab.task("a", 10, 10, &[Some(15)]);
        spoil(&lab);
        let scored = lab.scored(&[]);
        near(&scored["evoscore"], 0.5);
        let reason = scored["skipped"][0]["reason"].as_str().unwrap();
        assert!(reason.contains(expect), "{reason}");
        let output = lab.import(&[]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(
            message.contains(&format!("error: model-x/{expect}")),
            "{message}"
        );
        assert!(message.contains("nothing was imported"), "{message}");
        let runs = json_of(&lab.run(&mut program(), &["read", "runs", "--json"]));
        assert_eq!(runs["items"], json!([]));
    };
    let file = |content: Vec<u8>, expect: &str| {
        check(&|lab| lab.write("b/iteration.jsonl", &content), expect);
    };
    file(Vec::new(), "b/iteration.jsonl, line 1: the file is empty");
    file(
        b"\xff".to_vec(),
        "b/iteration.jsonl, line 1: it is not UTF-8",
    );
    file(
        format!("{base}{{\"gap\": 1, ").into(),
        "b/iteration.jsonl, line 2",
    );
    file(
        format!("{base}{{\"gap\": 1, \"pytest\": {{\"passed\": 1e300}}}}").into(),
        "b/iteration.jsonl, line 2",
    );
    file(
        format!("{base}{{\"gap\": -1, \"pytest\": {{\"passed\": 4}}}}").into(),
        "b/iteration.jsonl, line 2: a gap of -1",
    );
    check(
        &|lab| {
            let (from, to) = (lab.path("model-x/a"), lab.path("model-x/b"));
            std::os::unix::fs::symlink(from, to).unwrap();
        },
        "b is a symbolic link",
    );
}

#[test]
fn samples_of_otter() {
    let lab = Lab::new(&["a"]);
    for (sample, passes) in [("a#1", [12, 20]), ("a#2", [15, 15])] {
        let meta = json!({"base_passed": 10, "target_passed": 20});
        lab.write(&format!("{sample}/meta.json"), meta.to_string());
        for (turn, passed) in (1..).zip(passes) {
            let conclusion =
                json!({"num_passed": passed, "is_collapsed": false, "is_solved": passed == 20});
            let path = format!("{sample}/turn_{turn}/conclusion.json");
            lab.write(&path, conclusion.to_string());
        }
    }
    let scored = lab.scored(&["--from", "otter", "--max-iterations", "2"]);
    near(&scored["evoscore"], (0.6 + 0.5) / 2.0);
    assert_eq!(scored["tasks"][1]["sample"], 2);
    let imported = json_of(&lab.import_from("otter", &["--json"]));
    assert_eq!(
        (&imported["evolutions"], &imported["counts_only"]),
        (&json!(2), &json!(true))
    );
}
