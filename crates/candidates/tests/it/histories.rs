//! Tests histories and repositories of various shapes.

use swe_ci_candidates::testing::History;
use swe_ci_candidates::{Repository, first_parents, open_repository, unwatched};
use swe_ci_git::{ObjectId, ObjectKind};

use crate::{PYPROJECT, project, report};

fn chain(history: &History) -> Vec<ObjectId> {
    let repository = open_repository(history.folder()).unwrap();
    let tip = repository.tip(None).unwrap();
    let chain = first_parents(&repository, tip, &unwatched).unwrap();
    chain.iter().map(|commit| commit.id).collect()
}

#[test]
fn merged_branches_are_passed_by() {
    let (_folder, mut history) = project();
    let one = history.commit("one").unwrap();
    // A branch that changes dependencies and reverts them.
    history
        .write("pyproject.toml", PYPROJECT.replace(">=1", ">=9"))
        .unwrap();
    let aside = history.commit_on("aside", &[one]).unwrap();
    history.write("pyproject.toml", PYPROJECT).unwrap();
    let back = history.commit_on("back", &[aside]).unwrap();
    let two = history.commit("two").unwrap();
    let merge = history.merge("merge", &[back]).unwrap();
    // An octopus merge that includes an unrelated root.
    let orphan = history.commit_on("orphan", &[]).unwrap();
    let octopus = history.merge("octopus", &[aside, orphan]).unwrap();
    assert_eq!(chain(&history), [one, two, merge, octopus]);
    assert_eq!(report(&history).subsequences, 1);
    // If the unrelated root is the first parent, history begins there.
    history.go_on_from(orphan);
    let other = history.merge("other way round", &[octopus]).unwrap();
    assert_eq!(chain(&history), [orphan, other]);
}

#[test]
fn commits_that_change_nothing() {
    let (_folder, mut history) = project();
    let first = history.commit("one").unwrap();
    let last = history.commit("nothing").unwrap();
    assert_eq!(chain(&history), [first, last]);
    let span = &report(&history).kept[0];
    assert_eq!((span.span.commits, span.changes.total().files), (1, 0));
}

#[test]
fn one_commit_spans_nothing() {
    let (_folder, mut history) = project();
    history.commit("one").unwrap();
    let report = report(&history);
    assert_eq!((report.subsequences, report.singles), (1, 1));
    assert!(report.kept.is_empty() && report.dropped.is_empty());
}

#[test]
fn branches_are_named_and_heads_detached() {
    let (_folder, mut history) = project();
    let one = history.commit("one").unwrap();
    let two = history.commit("two").unwrap();
    let reference = |name: &str, id| history.reference(name, id).unwrap();
    reference("refs/heads/feature/x", one);
    reference("refs/remotes/origin/stable", one);
    reference("refs/tags/v1", one);
    let open = || Repository::open(history.folder()).unwrap();
    let tip = |name: Option<&str>| open().tip(name);
    assert_eq!(tip(None).unwrap(), two);
    for name in ["feature/x", "stable", "refs/tags/v1"] {
        assert_eq!(tip(Some(name)).unwrap(), one, "{name}");
    }
    for name in ["v1", "none", "../x", "a\nb", ""] {
        let error = tip(Some(name)).unwrap_err().to_string();
        assert!(
            error.contains("has no branch") && error.contains("`feature/x`"),
            "{error}"
        );
    }
    assert_eq!(open().commit("v1").unwrap(), one);
    let error = open().commit("beef").unwrap_err().to_string();
    assert!(error.contains("no commit `beef`"), "{error}");
    history.reference("HEAD", one).unwrap();
    assert_eq!(tip(None).unwrap(), one);
    let head = history.folder().join("HEAD");
    std::fs::write(head, "ref: refs/heads/gone\n").unwrap();
    let error = tip(None).unwrap_err().to_string();
    assert!(error.contains("name one of `feature/x`"), "{error}");
}

#[test]
fn with_and_without_a_work_tree() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::new(&folder.path().join(".git")).unwrap();
    let tip = history.commit("one").unwrap();
    for path in [folder.path().to_owned(), folder.path().join(".git")] {
        assert_eq!(Repository::open(&path).unwrap().tip(None).unwrap(), tip);
    }
    // Parent folders are not searched.
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let error = Repository::open(&inner).unwrap_err().to_string();
    assert!(error.contains("is not a git repository"), "{error}");
}

#[test]
fn messages_in_any_encoding() {
    let (_folder, mut history) = project();
    let first = history.commit("one").unwrap();
    let repository = Repository::open(history.folder()).unwrap();
    let tree = repository.root(first).unwrap();
    let mut raw = format!("tree {tree}\nparent {first}\n").into_bytes();
    raw.extend(b"author Ren\xe9 <r@localhost> 1600000000 +0200\ncommitter Ren\xe9 <r@localhost> 1600000000 +0200\nencoding ISO-8859-1\n\nd\xe9j\xe0 \xff\xfe\n");
    let second = history.object(ObjectKind::Commit, raw).unwrap();
    history.reference("refs/heads/main", second).unwrap();
    assert_eq!(chain(&history), [first, second]);
    assert_eq!(report(&history).kept[0].span.target_time, 1_600_000_000);
}

#[test]
fn clocks_that_run_backwards() {
    let (_folder, mut history) = project();
    let late = history.commit("late").unwrap();
    let repository = Repository::open(history.folder()).unwrap();
    let tree = repository.root(late).unwrap();
    let raw = format!(
        "tree {tree}\nparent {late}\nauthor A <a@b> -5 +0000\ncommitter A <a@b> -5 +0000\n\nx\n"
    );
    let early = history.object(ObjectKind::Commit, raw).unwrap();
    history.reference("refs/heads/main", early).unwrap();
    assert_eq!(report(&history).kept[0].span.days, 0.0);
    let facts = swe_ci_candidates::facts(history.folder(), "HEAD", &unwatched).unwrap();
    assert_eq!(facts.age_years, 0.0);
}
