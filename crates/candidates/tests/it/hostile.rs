//! Tests hostile and damaged repositories.

use std::fs;
use std::path::Path;

use swe_ci_candidates::testing::{FILE, FOLDER, History, SUBMODULE};
use swe_ci_candidates::{BoundExceeded, Reason, Repository, bounds, open_repository, unwatched};
use swe_ci_git::{ObjectId, ObjectKind, testing};

use crate::{any, lines, project, report};

fn refused(folder: &Path) -> String {
    format!("{:#}", open_repository(folder).unwrap_err())
}

#[test]
fn nothing_is_run() {
    let (folder, mut history) = project();
    let mark = folder.path().join("mark");
    let harm = format!(
        "import os\nos.system('touch {0}')\nsetup(install_requires=[os.system('touch {0}')])\n",
        mark.display()
    );
    history.write("setup.py", harm).unwrap();
    history
        .write(".gitattributes", "* filter=harm diff=harm -text\n")
        .unwrap();
    history.commit("base").unwrap();
    history.write("p/core.py", lines(20, "x")).unwrap();
    history.commit("target").unwrap();
    let touch = format!("touch {}", mark.display());
    let config = format!(
        "[filter \"harm\"]\nsmudge={touch}\nclean={touch}\n[diff \"harm\"]\ntextconv={touch}\nbinary=true\n[core]\nfsmonitor={touch}\n"
    );
    let path = history.folder().join("config");
    let config = fs::read_to_string(&path).unwrap() + &config;
    fs::write(path, config).unwrap();
    // Attributes are ignored too: these are lines, not binary.
    assert_eq!(report(&history).kept[0].changes.source.modified(), 30);
    swe_ci_candidates::facts(history.folder(), "HEAD", &unwatched).unwrap();
    assert!(!mark.exists());
}

#[test]
fn repositories_that_are_none_or_elsewhere() {
    let (folder, mut history) = project();
    let tip = history.commit("one").unwrap();
    let check = |file: &str, expect: &str| {
        let path = history.folder().join(file);
        fs::write(&path, "/").unwrap();
        let text = refused(history.folder());
        assert!(text.contains(expect), "{file}: {text}");
        fs::remove_file(path).unwrap();
    };
    check("commondir", "work tree of another");
    check("objects/info/alternates", "borrows objects");
    check("info/grafts", "replaces parents");
    let shallow = history.folder().join("shallow");
    fs::write(&shallow, format!("{tip}\n")).unwrap();
    assert!(refused(history.folder()).contains("--unshallow"));
    fs::remove_file(shallow).unwrap();
    assert!(open_repository(history.folder()).is_ok());

    let other = folder.path().join("other");
    assert!(refused(&other).contains("not a git repository"));
    fs::create_dir(&other).unwrap();
    assert!(refused(&other).contains("not a git repository"));
    fs::write(
        other.join(".git"),
        format!("gitdir: {}", history.folder().display()),
    )
    .unwrap();
    assert!(refused(&other).contains("points to another folder"));
    let config = history.folder().join("config");
    fs::write(
        config,
        "[core]\nrepositoryformatversion=1\n[extensions]\nworld=1\n",
    )
    .unwrap();
    assert!(refused(history.folder()).contains("clone it again"));
}

#[test]
fn empty_repositories() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::new(folder.path()).unwrap();
    let error = swe_ci_candidates::spans(folder.path(), None, &any(), &unwatched).unwrap_err();
    assert!(error.to_string().ends_with("has no commits yet"), "{error}");
    let error = swe_ci_candidates::facts(history.folder(), "HEAD", &unwatched).unwrap_err();
    assert!(error.to_string().ends_with("has no commits yet"), "{error}");
}

#[test]
fn damaged_objects_are_named() {
    let check = |damage: &dyn Fn(&History, [ObjectId; 2]) -> ObjectId,
                 what: &str,
                 garbage: Option<&str>| {
        let (_folder, mut history) = project();
        let first = history.commit("one").unwrap();
        history.write("p/core.py", lines(99, "x")).unwrap();
        let last = history.commit("two").unwrap();
        let broken = damage(&history, [first, last]);
        let path = testing::object_file(history.folder(), broken);
        fs::remove_file(&path).unwrap();
        if let Some(garbage) = garbage {
            fs::write(path, garbage).unwrap();
        }
        let error =
            swe_ci_candidates::spans(history.folder(), None, &any(), &unwatched).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains(&format!("the {what} {broken} is missing or damaged")),
            "{text}"
        );
    };
    let open = |h: &History| Repository::open(h.folder()).unwrap();
    let tree = |h: &History, id| open(h).root(id).unwrap();
    let file = |h: &History, id| {
        let mut found = None;
        let visit = |path: &[u8], id, _| found = found.or((path == b"p/core.py").then_some(id));
        open(h).list(tree(h, id), visit).unwrap();
        found.unwrap()
    };
    for garbage in [None, Some("garbage"), Some("")] {
        check(&|_, [first, _]| first, "commit", garbage);
        check(&|h, [_, last]| tree(h, last), "folder", garbage);
        check(&|h, [first, _]| file(h, first), "file", garbage);
    }
}

#[test]
fn objects_of_the_wrong_kind() {
    let (_folder, mut history) = project();
    history.commit("one").unwrap();
    let blob = history.object(ObjectKind::Blob, "x").unwrap();
    // A file entry that claims to be a folder.
    let tree = history.tree(&[(FOLDER, b"p", blob)]).unwrap();
    let raw = format!("tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n");
    let id = history.object(ObjectKind::Commit, raw).unwrap();
    history.reference("refs/heads/main", id).unwrap();
    let error = swe_ci_candidates::facts(history.folder(), "HEAD", &unwatched).unwrap_err();
    assert!(
        error.to_string().contains("it is actually a blob"),
        "{error}"
    );
}

/// A folder that contains each name `depth` times over, one inside the other.
fn nested(history: &History, depth: usize, names: &[String]) -> (u32, ObjectId) {
    let mut id = history.object(ObjectKind::Blob, "a").unwrap();
    let mut mode = FILE;
    for _ in 0..depth {
        let entries = names.iter().map(|name| (mode, name.as_bytes(), id));
        id = history.tree(&entries.collect::<Vec<_>>()).unwrap();
        mode = FOLDER;
    }
    (mode, id)
}

/// Ten folders in each of ten folders in each of …: a few bytes, 10^10 files.
fn bomb(history: &mut History) {
    let names: Vec<String> = (0..10).map(|name| name.to_string()).collect();
    let (mode, id) = nested(history, 10, &names);
    history.enter("bomb", mode, id);
}

#[test]
fn trees_without_end() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    bomb(&mut history);
    history.commit("target").unwrap();
    let reason = &report(&history).dropped[0].reason;
    assert!(matches!(reason, Reason::TooLarge { .. }), "{reason}");
    assert!(
        reason.to_string().contains(&bounds::ENTRIES.to_string()),
        "{reason}"
    );
    let error = swe_ci_candidates::facts(history.folder(), "HEAD", &unwatched).unwrap_err();
    assert!(error.is::<BoundExceeded>(), "{error}");
    // Files that come and go between the ends are not read.
    history.remove("bomb");
    history.commit("gone").unwrap();
    assert_eq!(report(&history).kept[0].span.commits, 2);
}

#[test]
fn requirements_without_end() {
    let (_folder, mut history) = project();
    let names: Vec<String> = (0..100).map(|name| format!("{name}.txt")).collect();
    let (mode, id) = nested(&history, 3, &names);
    history.enter("requirements", mode, id);
    let commit = history.commit("one").unwrap();
    let error = swe_ci_candidates::spans(history.folder(), None, &any(), &unwatched).unwrap_err();
    assert!(error.is::<BoundExceeded>(), "{error}");
    assert!(error.to_string().contains(&commit.to_string()), "{error}");
}

#[test]
fn deep_folders_and_long_paths() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    let (mode, id) = nested(&history, 5_000, &["d".into()]);
    history.enter("d", mode, id);
    history.enter("requirements", mode, id);
    history.commit("target").unwrap();
    let reason = report(&history).dropped[0].reason.to_string();
    assert!(reason.contains("the bytes of a path"), "{reason}");
}

#[test]
fn submodules_are_not_entered() {
    let (_folder, mut history) = project();
    history.commit("base").unwrap();
    let nowhere: ObjectId = "0123456789".repeat(4).parse().unwrap();
    history.enter("vendor/lib", SUBMODULE, nowhere);
    history.enter("requirements", SUBMODULE, nowhere);
    history.commit("target").unwrap();
    assert_eq!(report(&history).kept[0].changes.total().files, 0);
}

#[test]
fn long_commits_are_not_read() {
    let (_folder, mut history) = project();
    history.commit(&"x".repeat(bounds::COMMIT)).unwrap();
    let error = swe_ci_candidates::spans(history.folder(), None, &any(), &unwatched).unwrap_err();
    assert!(error.to_string().contains("bytes, more than"), "{error}");
}

#[test]
fn declarations_that_become_folders_and_links() {
    let (_folder, mut history) = project();
    history.write("requirements.txt", "a\n").unwrap();
    history.commit("one").unwrap();
    history.remove("requirements.txt");
    history.write("requirements.txt/a.txt", "a\n").unwrap();
    history.commit("two").unwrap();
    history.remove("requirements.txt");
    history.link("requirements.txt", "/etc/passwd").unwrap();
    history.commit("three").unwrap();
    let report = report(&history);
    assert_eq!((report.subsequences, report.singles), (2, 1));
}
