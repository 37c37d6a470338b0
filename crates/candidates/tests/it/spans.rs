//! Tests which spans exist, how much changes in them, and which are kept.

use std::cell::Cell;
use std::ops::ControlFlow;

use swe_ci_candidates::testing::HOUR;
use swe_ci_candidates::{Change, Progress, Reason, SpanRules, Stopped, Unchanged, unwatched};

use crate::{PYPROJECT, any, lines, project, report};

#[test]
fn a_span_is_from_end_to_end_of_what_stays_the_same() {
    let (_folder, mut history) = project();
    let mut shas = Vec::new();
    for n in 0..6 {
        if n == 4 {
            history
                .write("pyproject.toml", PYPROJECT.replace(">=1", ">=2"))
                .unwrap();
        }
        history.write("p/core.py", lines(10 + n, "v")).unwrap();
        shas.push(history.commit("more").unwrap().to_string());
    }
    let report = report(&history);
    assert_eq!(
        (report.commits, report.subsequences, report.singles),
        (6, 2, 0)
    );
    assert_eq!(report.head, shas[5]);
    let first = &report.kept[0].span;
    assert_eq!(
        (&first.base, &first.target, first.commits),
        (&shas[0], &shas[3], 3)
    );
    assert_eq!(first.target_time - first.base_time, 3 * HOUR);
    assert!((first.days - 0.125).abs() < 1e-9);
    let second = &report.kept[1].span;
    assert_eq!((&second.base, &second.target), (&shas[4], &shas[5]));
    assert_eq!(
        report.kept[0].changes.source,
        Change {
            added: 3,
            deleted: 0,
            files: 1
        }
    );
    assert_eq!(
        report.kept[1].changes.total().modified(),
        1,
        "the most lines first"
    );
}

/// A change between two commits, and whether it changes dependencies.
#[test]
fn dependency_changes_end_a_span() {
    let check = |path: &str, before: &str, after: Option<&str>, ends: bool| {
        let (_folder, mut history) = project();
        if !before.is_empty() {
            history.write(path, before).unwrap();
        }
        history.commit("before").unwrap();
        history.remove(path);
        if let Some(after) = after {
            history.write(path, after).unwrap();
        }
        history.commit("after").unwrap();
        let found = report(&history).subsequences;
        assert_eq!(
            found,
            if ends { 2 } else { 1 },
            "{path}: {before} → {after:?}"
        );
    };
    let lock = |own: &str, other: &str| {
        format!(
            "[[package]]\nname='p'\nversion='{own}'\nsource={{editable='.'}}\n[[package]]\nname='a'\nversion='{other}'\n"
        )
    };
    check(
        "pyproject.toml",
        PYPROJECT,
        Some(&PYPROJECT.replace("version='1'", "version='2'")),
        false,
    );
    check(
        "pyproject.toml",
        PYPROJECT,
        Some(&PYPROJECT.replace("a>=1", "b")),
        true,
    );
    check("uv.lock", &lock("1", "1"), Some(&lock("2", "1")), false);
    check("uv.lock", &lock("1", "1"), Some(&lock("1", "2")), true);
    check("uv.lock", &lock("1", "1"), None, true);
    check("requirements/ci/extra.txt", "a", Some("b"), true);
    check("requirements/ci/extra.txt", "a", Some("a # why"), false);
    check("docs/requirements.txt", "a", Some("b"), false);
    check("requirements.txt", "", Some("# nothing yet\n"), false);
    check("requirements.txt", "", Some("a"), true);
    check(
        "p/setup.py",
        "setup(install_requires=['a'])",
        Some("setup(install_requires=['b'])"),
        false,
    );
    check("p/core.py", "a = 1\n", None, false);
}

#[test]
fn changed_and_changed_back_is_three() {
    let (_folder, mut history) = project();
    for version in [">=1", ">=1", ">=2", ">=1", ">=1"] {
        history
            .write("pyproject.toml", PYPROJECT.replace(">=1", version))
            .unwrap();
        history.commit("next").unwrap();
    }
    let report = report(&history);
    assert_eq!((report.subsequences, report.singles), (3, 1));
    assert_eq!(report.kept.len(), 2);
}

#[test]
fn reasons_against_a_span() {
    let check = |rules: &SpanRules,
                 change: &dyn Fn(&mut swe_ci_candidates::testing::History),
                 expect: &str| {
        let (_folder, mut history) = project();
        change(&mut history);
        history.commit("base").unwrap();
        history.write("p/core.py", lines(30, "w")).unwrap();
        history.write("README", lines(20, "w")).unwrap();
        history.commit("target").unwrap();
        let report = swe_ci_candidates::spans(history.folder(), None, rules, &unwatched).unwrap();
        let reasons = report
            .dropped
            .first()
            .map(|d| d.reason.to_string())
            .unwrap_or_default();
        assert!(
            reasons.contains(expect) && reasons.is_empty() == expect.is_empty(),
            "{expect}: {report:?}"
        );
        let counted: usize = report.reasons().values().sum();
        assert_eq!(counted, report.dropped.len());
    };
    let rules = |lines, source, commits| SpanRules {
        min_modified_lines: lines,
        min_source_lines: source,
        min_commits: commits,
        ..SpanRules::default()
    };
    let nothing = &|_: &mut swe_ci_candidates::testing::History| {};
    check(&rules(60, 40, 1), nothing, "");
    check(&rules(61, 40, 1), nothing, "60 modified lines, at least 61");
    check(
        &rules(60, 41, 1),
        nothing,
        "40 modified lines of source code, at least 41",
    );
    check(
        &rules(0, 0, 2),
        nothing,
        "1 commits after the base, at least 2",
    );
    check(&SpanRules::default(), nothing, "at least 1000");
    check(&any(), &|h| h.remove("tests"), "no test_*.py");
    check(
        &any(),
        &|h| h.remove("pyproject.toml"),
        "no file of the target",
    );
    check(
        &any(),
        &|h| h.write("pyproject.toml", "[project").unwrap(),
        "pyproject.toml is malformed",
    );
    check(
        &any(),
        &|h| h.write("uv.lock", "<<<<<<< HEAD").unwrap(),
        "uv.lock is malformed",
    );
    check(
        &any(),
        &|h| h.write("setup.py", "setup(install_requires=f())").unwrap(),
        "",
    );
    check(
        &any(),
        &|h| h.write("requirements.txt", "a\n".repeat(5 << 20)).unwrap(),
        "longer than 8 MiB",
    );
}

#[test]
fn a_target_without_source() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    history.remove("p");
    history.commit("target").unwrap();
    assert_eq!(report(&history).dropped[0].reason, Reason::NoSource);
}

/// Lines added and deleted by writing over `p/core.py`.
#[test]
fn lines_are_counted_as_git_does() {
    let check = |before: &[u8], after: &[u8], expect: (usize, usize)| {
        let (_folder, mut history) = project();
        history.write("p/core.py", before).unwrap();
        history.commit("base").unwrap();
        history.write("p/core.py", after).unwrap();
        history.commit("target").unwrap();
        let found = report(&history).kept[0].changes.clone();
        let (before, after) = (
            String::from_utf8_lossy(before),
            String::from_utf8_lossy(after),
        );
        assert_eq!(
            (found.source.added, found.source.deleted),
            expect,
            "{before} → {after}"
        );
        assert_eq!(found.uncounted.count, 0);
    };
    check(b"a\nb\nc\n", b"a\nx\nc\n", (1, 1));
    check(b"a\nb\n", b"a\nb\nc", (1, 0));
    check(b"", b"a\nb", (2, 0));
    check(b"a\n", b"", (0, 1));
    check(b"a\nb\n", b"a\nb", (1, 1));
    check(b"a\r\nb\r\n", b"a\nb\n", (0, 0));
    check(b"a\r\nb\r\n", b"a\nc\n", (1, 1));
    check(b"caf\xe9\na\n", b"caf\xe9\nb\n", (1, 1));
    // Git treats UTF-16 as binary.
    check(b"\xff\xfea\0\n\0", b"\xff\xfeb\0\n\0", (0, 0));
    check(b"a\n", b"\0", (0, 0));
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789012345678901234567890123456789012345678901234567890123\nsize 12345\n";
    check(b"a\n", pointer.as_bytes(), (0, 0));
}

#[test]
fn classes_are_told_apart() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    history.write("p/new.py", lines(3, "v")).unwrap();
    history.write("tests/data.json", lines(5, "v")).unwrap();
    history.write("p/test_new.py", lines(7, "v")).unwrap();
    history.write("uv.txt", lines(11, "v")).unwrap();
    history.write(b"p/\xff\xfe.py", lines(13, "v")).unwrap();
    history.commit("target").unwrap();
    let changes = &report(&history).kept[0].changes;
    let added = [changes.source, changes.tests, changes.other].map(|c| (c.added, c.files));
    assert_eq!(added, [(16, 2), (12, 2), (11, 1)]);
    assert_eq!(
        changes.total(),
        Change {
            added: 39,
            deleted: 0,
            files: 5
        }
    );
}

#[test]
fn moving_files_is_not_writing_them() {
    let (_folder, mut history) = project();
    for module in ["one", "two"] {
        history
            .write(format!("p/{module}/__init__.py"), lines(100, module))
            .unwrap();
    }
    history.write("p/mod.py", lines(100, "mod")).unwrap();
    history.write("p/name.py", lines(49, "own")).unwrap();
    history.commit("base").unwrap();
    history.remove("p");
    for module in ["one", "two"] {
        let text = format!("new = 1\n{}", lines(100, module));
        history
            .write(format!("src/p/{module}/__init__.py"), text)
            .unwrap();
    }
    history.write("src/p/core.py", lines(10, "v")).unwrap();
    history
        .write("src/p/_renamed.py", lines(50, "own"))
        .unwrap();
    // A file becomes a folder.
    history
        .write("src/p/mod/__init__.py", lines(100, "mod"))
        .unwrap();
    history.commit("target").unwrap();
    let changes = &report(&history).kept[0].changes;
    assert_eq!(
        changes.source,
        Change {
            added: 3,
            deleted: 0,
            files: 5
        }
    );
}

#[test]
fn a_file_moves_to_one_place() {
    let (_folder, mut history) = project();
    history.write("p/old.py", lines(100, "v")).unwrap();
    history.commit("base").unwrap();
    history.remove("p/old.py");
    history.write("p/near.py", lines(101, "v")).unwrap();
    history.write("p/far.py", lines(110, "v")).unwrap();
    history.write("p/other.py", lines(7, "w")).unwrap();
    history.commit("target").unwrap();
    let changes = &report(&history).kept[0].changes;
    let expect = Change {
        added: 1 + 110 + 7,
        deleted: 0,
        files: 3,
    };
    assert_eq!(changes.source, expect);
}

#[test]
fn long_files_count_no_lines_and_are_told() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    history
        .write("p/data.py", "a = 1\n".repeat(1_500_000))
        .unwrap();
    history.write("p/new.py", "a = 1\n").unwrap();
    history.commit("target").unwrap();
    let changes = &report(&history).kept[0].changes;
    assert_eq!(
        changes.source,
        Change {
            added: 1,
            deleted: 0,
            files: 2
        }
    );
    assert_eq!(
        (changes.uncounted.count, &*changes.uncounted.first),
        (1, &["p/data.py".to_owned()][..])
    );
}

#[test]
fn whoever_watches_can_stop_it() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    history.commit("target").unwrap();
    let reasons = Cell::new(0);
    let all = |_: Progress| {
        reasons.set(reasons.get() + 1);
        ControlFlow::Continue(())
    };
    swe_ci_candidates::spans(history.folder(), None, &any(), &all).unwrap();
    let calls = reasons.get();
    assert!(calls >= 2, "{calls}");
    for stop_at in 1..=calls {
        let count = Cell::new(0);
        let watch = |_: Progress| {
            count.set(count.get() + 1);
            if count.get() == stop_at {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let error = swe_ci_candidates::spans(history.folder(), None, &any(), &watch).unwrap_err();
        assert!(error.is::<Stopped>(), "{error}");
    }
}

#[test]
fn rules_and_reports_travel_as_json() {
    let rules: SpanRules = serde_json::from_str(r#"{"min_commits": 5}"#).unwrap();
    assert_eq!(
        rules,
        SpanRules {
            min_commits: 5,
            ..SpanRules::default()
        }
    );
    let error = serde_json::from_str::<SpanRules>(r#"{"min_comits": 5}"#).unwrap_err();
    assert!(error.to_string().contains("min_comits"), "{error}");
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    history.remove("tests");
    history.commit("target").unwrap();
    let report = report(&history);
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains(r#""reason":"no_tests""#), "{json}");
    assert_eq!(
        serde_json::from_str::<swe_ci_candidates::SpanReport>(&json).unwrap(),
        report
    );
}

#[test]
fn a_plan_chooses_what_stays_the_same() {
    let (_folder, mut history) = project();
    let with_group =
        |version: u32| format!("{PYPROJECT}[dependency-groups]\ndev = ['mypy>={version}']\n");
    let lock = |version: u32| format!("[[package]]\nname='a'\nversion='{version}'\n");
    history.write("pyproject.toml", with_group(1)).unwrap();
    history.write("uv.lock", lock(1)).unwrap();
    history.commit("all").unwrap();
    history.write("uv.lock", lock(2)).unwrap();
    history.commit("lock").unwrap();
    history.write("pyproject.toml", with_group(2)).unwrap();
    history.commit("developers").unwrap();
    let more = PYPROJECT.replace(">=1", ">=2");
    history.write("pyproject.toml", more).unwrap();
    history.commit("dependencies").unwrap();
    let check = |unchanged, expect| {
        let rules = SpanRules { unchanged, ..any() };
        let found = swe_ci_candidates::spans(history.folder(), None, &rules, &unwatched);
        assert_eq!(found.unwrap().subsequences, expect, "{unchanged:?}");
    };
    check(Unchanged::Locked, 4);
    check(Unchanged::Declared, 3);
    check(Unchanged::Runtime, 2);
}

#[test]
fn spans_begin_after_a_day() {
    let (_folder, mut history) = project();
    let mut shas = Vec::new();
    for n in 0..50 {
        history.write("p/core.py", lines(10 + n, "v")).unwrap();
        shas.push(history.commit("more").unwrap().to_string());
    }
    let check = |since: &str, commits: usize, base: Option<usize>| {
        let since = Some(since.parse().unwrap());
        let rules = SpanRules { since, ..any() };
        let found = swe_ci_candidates::spans(history.folder(), None, &rules, &unwatched).unwrap();
        assert_eq!(found.commits, commits);
        let found = found.kept.first().map(|kept| kept.span.base.clone());
        assert_eq!(found, base.map(|base| shas[base].clone()));
    };
    check("2020-01-01", 50, Some(0));
    check("2020-01-02", 26, Some(24));
    check("2020-01-04", 0, None);
}
