//! Tests of reading results: the content, missing files, and refusals that name
//! the file.

use std::os::unix::fs::symlink;

use swe_ci_base::error::Error;
use swe_ci_core::results::Layout;

use super::super::{Detail, Evolution, Experiment, Found, read};
use super::{Lab, SOLVED, lines, report};

fn experiment(lab: &Lab, layout: Layout) -> Experiment {
    read(layout, &lab.experiment(), &lab.metadata(), Detail::Tests).unwrap()
}

/// The first sample of the first task.
fn first(lab: &Lab, layout: Layout) -> Found {
    experiment(lab, layout).tasks.remove(0).samples.remove(0)
}

#[track_caller]
fn evolution(lab: &Lab, layout: Layout) -> Evolution {
    match first(lab, layout) {
        Found::Evolution(evolution) => *evolution,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tasks_come_in_the_order_of_the_split_and_the_rest_is_named() {
    let lab = Lab::new(&["zeta", "alpha"]);
    lab.iterations("alpha", SOLVED);
    lab.iterations("zeta", SOLVED);
    lab.iterations("stranger", SOLVED);
    lab.write("main.log", "a file is no task");
    symlink("/", lab.path("link")).unwrap();
    let found = experiment(&lab, Layout::Reference);
    let ids: Vec<&str> = found
        .tasks
        .iter()
        .map(|t| t.line.task_id.as_str())
        .collect();
    assert_eq!(ids, ["zeta", "alpha"]);
    assert_eq!(found.ignored, ["link", "stranger"]);
    assert_eq!(found.name, "model-x");
}

/// Other kinds of entries in place of `iteration.jsonl`.
#[test]
fn a_reference_task_is_missing_or_bad_by_name() {
    let check = |make: &dyn Fn(&Lab), expect: Result<&str, &str>| {
        let lab = Lab::new(&["a"]);
        make(&lab);
        match (first(&lab, Layout::Reference), expect) {
            (Found::Missing(why), Ok(part)) | (Found::Bad(why), Err(part)) => {
                assert!(why.contains(part), "{why}");
            }
            (found, expect) => panic!("{found:?} instead of {expect:?}"),
        }
    };
    check(&|_| {}, Ok("there is no folder `a`: it was never started"));
    check(
        &|lab| lab.write("a/task.log", ""),
        Ok("there is no `a/iteration.jsonl`"),
    );
    let bad = |content: &'static [u8], expect| {
        check(&|lab| lab.write("a/iteration.jsonl", content), Err(expect));
    };
    bad(b"", "a/iteration.jsonl, line 1: the file is empty");
    bad(b"\xff\xfe", "a/iteration.jsonl, line 1: it is not UTF-8");
    bad(
        b"{\"gap\": 1, \"pytest\": {\"passed\": 1}}\n{\"gap\": 0, \"py",
        "a/iteration.jsonl, line 2: column",
    );
    bad(
        b"{\"gap\": 1, \"pytest\": {\"passed\": 1}}\n{\"gap\": -1, \"pytest\": {\"passed\": 2}}",
        "a/iteration.jsonl, line 2: a gap of -1",
    );
    bad(
        b"{\"gap\": 1, \"pytest\": {\"passed\": 99999999999999999999}}",
        "a/iteration.jsonl, line 1",
    );
    check(&|lab| lab.write("a", "a file"), Err("a is not a folder"));
    check(
        &|lab| std::fs::create_dir_all(lab.path("a/iteration.jsonl")).unwrap(),
        Err("a/iteration.jsonl is not a plain file"),
    );
    check(
        &|lab| {
            lab.iterations("elsewhere", SOLVED);
            symlink(lab.path("elsewhere"), lab.path("a")).unwrap();
        },
        Err("a is a symbolic link"),
    );
    check(
        &|lab| {
            lab.iterations("elsewhere", SOLVED);
            std::fs::create_dir(lab.path("a")).unwrap();
            let to = lab.path("a/iteration.jsonl");
            symlink(lab.path("elsewhere/iteration.jsonl"), to).unwrap();
        },
        Err("a/iteration.jsonl is a symbolic link"),
    );
}

#[test]
fn folder_and_metadata_are_refused_with_their_place() {
    let lab = Lab::new(&["a"]);
    let check = |root: &str, csv: Option<&str>, expect: &[&str]| {
        let metadata = match csv {
            Some(text) => {
                let path = lab.metadata();
                std::fs::write(&path, text).unwrap();
                path
            }
            None => lab.path("nowhere.csv"),
        };
        let root = lab.experiment().parent().unwrap().join(root);
        let error = read(Layout::Reference, &root, &metadata, Detail::Tests).unwrap_err();
        let Error::Invalid(why) = error else {
            panic!("{error:?}");
        };
        for part in expect {
            assert!(why.contains(part), "{why}");
        }
    };
    let good = "task_id,current_sha,target_sha\na,aaaaaaa,bbbbbbb\n";
    check("nowhere", Some(good), &["nowhere", "No such file"]);
    check("split.csv", Some(good), &["split.csv is not a folder"]);
    check("model-x", None, &["nowhere.csv", "No such file"]);
    check(
        "model-x",
        Some("nonsense"),
        &["split.csv", "line 1", "`task_id`"],
    );
    check(
        "model-x",
        Some("\u{0}\u{1}\n\"\n"),
        &["split.csv", "line 1"],
    );
    check(
        "model-x",
        Some("task_id,current_sha,target_sha\n../a,aaaaaaa,bbbbbbb\n"),
        &["split.csv", "line 2, column `task_id`"],
    );
}

/// Tests t0…t4: T is all five, the base passes three.
fn archive(lab: &Lab) {
    lab.iterations("a", (3, 2, &[Some(4), None, Some(5)]));
    lab.report("a/target", "ppppp");
    lab.report("a/2026-09-19-10-00-05", "pppff");
    lab.report("a/2026-09-19-10-01-10", "ppppf");
    lab.write("a/2026-09-19-10-00-40/code/broken.py", "(");
    lab.report("a/2026-09-19-10-02-10", "ppppp");
    lab.write("a/task.log", "");
}

#[test]
fn archived_reports_say_which_tests_passed() {
    let lab = Lab::new(&["a"]);
    archive(&lab);
    let letters = |lab: &Lab| {
        let tests = evolution(lab, Layout::Reference).tests.unwrap();
        let after = tests.iterations.iter();
        let after: Vec<String> = after
            .map(|o| {
                o.as_ref()
                    .map_or("collapsed".into(), |o| o.letters().into())
            })
            .collect();
        (tests.suite.base_outcomes.letters().to_owned(), after)
    };
    let expect = ["ppppf", "collapsed", "ppppp"].map(String::from).to_vec();
    assert_eq!(letters(&lab), ("pppff".into(), expect.clone()));
    // The latest scored code of an unfinished evolution is still in `current`.
    std::fs::rename(lab.path("a/2026-09-19-10-02-10"), lab.path("a/current")).unwrap();
    assert_eq!(letters(&lab), ("pppff".into(), expect));
}

#[test]
fn reports_that_do_not_fit_leave_counts_with_the_reason() {
    let check = |spoil: &dyn Fn(&Lab), expect: &str| {
        let lab = Lab::new(&["a"]);
        archive(&lab);
        spoil(&lab);
        let evolution = evolution(&lab, Layout::Reference);
        assert_eq!(evolution.record.iterations.len(), 3);
        let why = evolution.tests.unwrap_err();
        assert!(why.contains(expect), "{why}");
    };
    let remove = |lab: &Lab, path: &str| std::fs::remove_file(lab.path(path)).unwrap();
    let second = "a/2026-09-19-10-01-10";
    check(
        &|lab| remove(lab, &format!("{second}/test_report.json")),
        "2 test reports were archived, and base and scored iterations are 3",
    );
    check(
        &|lab| lab.report("a/current", "ppppp"),
        "4 test reports were archived",
    );
    check(
        &|lab| remove(lab, "a/target/test_report.json"),
        "target/test_report.json is missing",
    );
    check(
        &|lab| lab.report(second, "pppff"),
        "2026-09-19-10-01-10/test_report.json counts 3 passing tests, iteration.jsonl 4",
    );
    check(
        &|lab| lab.report("a/target", "ppppf"),
        "give the base a gap of 1",
    );
    check(
        &|lab| lab.write(&format!("{second}/test_report.json"), "{"),
        "2026-09-19-10-01-10/test_report.json: the test report is not JSON",
    );
    check(
        &|lab| lab.write(&format!("{second}/test_report.json"), ""),
        "is not JSON",
    );
    check(
        &|lab| {
            let path = format!("{second}/test_report.json");
            remove(lab, &path);
            symlink(lab.path("a/target/test_report.json"), lab.path(&path)).unwrap();
        },
        "test_report.json is a symbolic link",
    );
    check(
        &|lab| {
            std::fs::remove_dir_all(lab.path(second)).unwrap();
            symlink(lab.path("a/target"), lab.path(second)).unwrap();
        },
        "a/2026-09-19-10-01-10 is a symbolic link",
    );
    // Without any report, the usual case, the reason is short.
    let lab = Lab::new(&["a"]);
    lab.iterations("a", SOLVED);
    let why = evolution(&lab, Layout::Reference).tests.unwrap_err();
    assert_eq!(why, "no test reports were archived");
}

/// A folder of Otter's with missing files or impossible values.
#[test]
fn an_otter_sample_is_missing_or_bad_by_name() {
    let check = |make: &dyn Fn(&Lab), expect: Result<&str, &str>| {
        let lab = Lab::new(&["a"]);
        make(&lab);
        match (first(&lab, Layout::Otter), expect) {
            (Found::Missing(why), Ok(part)) | (Found::Bad(why), Err(part)) => {
                assert!(why.contains(part), "{why}");
            }
            (found, expect) => panic!("{found:?} instead of {expect:?}"),
        }
    };
    check(&|_| {}, Ok("there is no folder `a#<sample>`"));
    check(
        &|lab| std::fs::create_dir(lab.path("a#1")).unwrap(),
        Ok("there is no `a#1/meta.json`"),
    );
    check(
        &|lab| lab.write("a#1/turn_1/conclusion.json", "{}"),
        Err("a#1/meta.json is missing"),
    );
    let spoilt = |spoil: &'static dyn Fn(&Lab), expect| {
        check(
            &|lab| {
                lab.sample("a#1", SOLVED);
                spoil(lab);
            },
            Err(expect),
        );
    };
    spoilt(
        &|lab| {
            let meta = "{\"base_passed\": 9,\n\"target_passed\": 8}";
            lab.write("a#1/meta.json", meta);
        },
        "a#1/meta.json, line 1: the target passes 8",
    );
    spoilt(
        &|lab| lab.write("a#1/turn_3/conclusion.json", "{\n\"num_passed\": x}"),
        "a#1/turn_3/conclusion.json, line 2",
    );
    spoilt(
        &|lab| lab.write("a#1/turn_2/conclusion.json", "{}"),
        "a#1/turn_2/conclusion.json, line 1: there is no `num_passed`",
    );
    spoilt(
        &|lab| std::fs::remove_file(lab.path("a#1/turn_2/conclusion.json")).unwrap(),
        "a#1/turn_2/conclusion.json is missing, and there are later turns",
    );
    spoilt(
        &|lab| std::fs::remove_dir_all(lab.path("a#1/turn_2")).unwrap(),
        "a#1/turn_2 is missing, and there is a turn_3",
    );
    for odd in ["turn_0", "turn_01", "turn_x", "turn_\u{1b}[2J"] {
        check(
            &|lab| {
                lab.sample("a#1", SOLVED);
                std::fs::create_dir(lab.path(&format!("a#1/{odd}"))).unwrap();
            },
            Err("turns are numbered from 1"),
        );
    }
    spoilt(
        &|lab| symlink(lab.path("a#1/turn_1"), lab.path("a#1/turn_5")).unwrap(),
        "a#1/turn_5 is a symbolic link",
    );
    for odd in ["a#", "a#x", "a#01", "a#-1"] {
        check(
            &|lab| lab.sample(odd, SOLVED),
            Err("the number of a sample"),
        );
    }
}

#[test]
fn otter_samples_are_ordered_by_number_and_a_turn_at_work_is_left_out() {
    let lab = Lab::new(&["a"]);
    lab.sample("a#10", (10, 10, &[Some(20)]));
    lab.sample("a#9", SOLVED);
    lab.sample("b#1", SOLVED);
    std::fs::create_dir(lab.path("a#9/turn_5")).unwrap();
    let found = experiment(&lab, Layout::Otter);
    let lengths: Vec<(usize, usize)> = found.tasks[0]
        .samples
        .iter()
        .map(|found| match found {
            Found::Evolution(e) => (e.record.iterations.len(), e.notes.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lengths, [(4, 1), (1, 0)]);
    assert_eq!(found.ignored, ["b#1"]);
}

/// A file that is truncated or damaged anywhere is read or refused by name.
#[test]
fn hostile_bytes_are_refused_by_name() {
    let lab = Lab::new(&["a"]);
    archive(&lab);
    let good = lines((3, 2, &[Some(4), None, Some(5)])).into_bytes();
    let base = "a/2026-09-19-10-00-05/test_report.json";
    let odd = report("pppff").into_bytes();
    let spoilt = |bytes: &[u8], at: usize, with: u8| {
        let mut bytes = bytes.to_vec();
        let at = at % bytes.len();
        bytes[at] = with;
        bytes
    };
    for at in (0..good.len()).step_by(3) {
        let variants = [b'\0', b'9', b'-', b'"', b'\n', 0xff]
            .map(|byte| (spoilt(&good, at, byte), spoilt(&odd, at, byte)));
        let cut = (good[..at].to_vec(), odd[..at].to_vec());
        for (text, report) in variants.into_iter().chain([cut]) {
            lab.write("a/iteration.jsonl", &text);
            lab.write(base, &report);
            match first(&lab, Layout::Reference) {
                Found::Evolution(e) => assert!(e.record.iterations.len() <= 3),
                Found::Bad(why) => assert!(why.starts_with("a/iteration.jsonl, line "), "{why}"),
                Found::Missing(why) => panic!("{why}"),
            }
        }
    }
}
