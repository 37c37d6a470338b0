//! Tests the formats of repositories.

use std::path::Path;

use swe_ci_git::{EntryKind, Repository, checked, command};

use crate::{Bare, git, run};

/// Whether this machine's git reads reftable.
fn reads_reftable() -> bool {
    let version = checked(command().arg("version").output()).unwrap();
    let version = String::from_utf8(version).unwrap();
    let mut numbers = version
        .split([' ', '.'])
        .filter_map(|word| word.parse().ok());
    (numbers.next(), numbers.next()) >= (Some(2), Some(45))
}

/// Commits with git, and reads everything back.
fn commits_are_read(folder: &Path) {
    std::fs::create_dir(folder.join("p")).unwrap();
    let mut tips = Vec::new();
    for text in ["a = 1\n", "a = 2\n"] {
        std::fs::write(folder.join("p/a.py"), text).unwrap();
        run(folder, &["add", "--all"]);
        run(folder, &["commit", "--quiet", "--message", "m"]);
        tips.push(run(folder, &["rev-parse", "HEAD"]));
    }
    run(folder, &["branch", "other", "HEAD~1"]);
    run(
        folder,
        &["tag", "--annotate", "--message", "m", "v1", "HEAD~1"],
    );
    // Once with loose objects and references, and once packed.
    for packed in [false, true] {
        if packed {
            run(folder, &["gc", "--quiet"]);
        }
        let repository = Repository::open(folder).unwrap();
        let tip = |name| repository.tip(name).unwrap().to_string();
        assert_eq!([tip(Some("other")), tip(None)], *tips);
        assert_eq!(tip(Some("refs/tags/v1")), tips[0]);
        let [base, target] = ["v1", "HEAD"].map(|name| repository.commit(name).unwrap());
        assert_eq!(repository.between(base, target).unwrap(), [target]);
        let target = repository.read_commit(target).unwrap();
        assert_eq!(
            (target.time, &*target.message),
            (1_600_000_000, &b"m\n"[..])
        );
        assert_eq!(target.parents, [base]);
        let mut listed = Vec::new();
        let visit = |path: &[u8], _, kind| listed.push((path.to_vec(), kind));
        repository.list(target.tree, visit).unwrap();
        let plain = EntryKind::File { executable: false };
        assert_eq!(
            listed,
            [
                (b"p".to_vec(), EntryKind::Folder),
                (b"p/a.py".to_vec(), plain)
            ]
        );
        let differences = repository.differences(repository.root(base).unwrap(), target.tree);
        let difference = differences.unwrap().remove(0);
        assert_eq!(difference.path, b"p/a.py");
        let text = repository.blob(difference.new.unwrap(), 6).unwrap();
        assert_eq!(text.unwrap(), b"a = 2\n");
        assert_eq!(repository.blob(difference.old.unwrap(), 5).unwrap(), None);
    }
}

#[test]
fn every_format_is_read() {
    for (objects, references) in [
        ("sha1", "files"),
        ("sha256", "files"),
        ("sha1", "reftable"),
        ("sha256", "reftable"),
    ] {
        if references == "reftable" && !reads_reftable() {
            eprintln!("skipped: this git does not know reftable");
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut init = git(folder.path(), &["init", "--quiet", "--template="]);
        init.args(["--initial-branch=main", "--object-format", objects]);
        init.env("GIT_DEFAULT_REF_FORMAT", references);
        checked(init.output()).unwrap();
        commits_are_read(folder.path());
    }
}

#[test]
fn a_git_that_is_too_old_says_so() {
    let bare = Bare::new();
    bare.write(
        "config",
        "[core]\nrepositoryFormatVersion = 1\n[extensions]\nrefStorage = reftable\n",
    );
    match Repository::open(bare.path()) {
        Ok(_) => assert!(reads_reftable()),
        Err(error) => {
            assert!(!reads_reftable(), "{error:#}");
            let text = error.to_string();
            assert!(
                text.contains("git refs migrate --ref-format=files"),
                "{text}"
            );
        }
    }
}

#[test]
fn archives_forget_empty_folders() {
    let folder = tempfile::tempdir().unwrap();
    run(
        folder.path(),
        &["init", "--quiet", "--template=", "--initial-branch=main"],
    );
    commits_are_read(folder.path());
    let refs = folder.path().join(".git/refs");
    std::fs::remove_dir_all(&refs).unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    assert_eq!(
        repository.tip(None).unwrap(),
        repository.commit("main").unwrap()
    );
    assert!(!refs.exists(), "nothing is written into it");
}

#[test]
fn settings_without_effect_are_ignored_and_others_refused() {
    let bare = Bare::new();
    let check = |version: u32, setting: &str, is_read: bool| {
        bare.write(
            "config",
            &format!("[core]\nrepositoryFormatVersion = {version}\n[Extensions]\n{setting}\n"),
        );
        let opened = Repository::open(bare.path());
        assert_eq!(opened.is_ok(), is_read, "{version} {setting}: {opened:?}");
        if let Err(error) = opened {
            assert!(error.to_string().contains("clone it again"), "{error}");
        }
    };
    for (setting, is_read) in [
        ("", true),
        ("worktreeConfig = true", true),
        ("preciousObjects", true),
        ("objectFormat = sha1", true),
        ("objectFormat = md5", false),
        ("refStorage = files", true),
        ("refStorage = mine", false),
        ("partialClone = origin", false),
        ("world = 1", false),
    ] {
        check(0, setting, is_read);
        check(1, setting, is_read);
    }
    check(2, "", false);
    bare.write("config", "[core");
    let error = Repository::open(bare.path()).unwrap_err();
    assert!(error.to_string().contains("clone it again"), "{error}");
    std::fs::remove_file(bare.path().join("config")).unwrap();
    assert!(Repository::open(bare.path()).is_ok());
}

#[test]
fn shallow_clones_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (full, shallow) = (folder.path().join("full"), folder.path().join("shallow"));
    std::fs::create_dir(&full).unwrap();
    run(
        &full,
        &["init", "--quiet", "--template=", "--initial-branch=main"],
    );
    commits_are_read(&full);
    let address = format!("file://{}", full.display());
    let clone = ["clone", "--quiet", "--depth=1", "--", &address, "shallow"];
    run(folder.path(), &clone);
    let [full, shallow] = [full, shallow].map(|folder| Repository::open(&folder).unwrap());
    assert_eq!([full.is_shallow(), shallow.is_shallow()], [false, true]);
    let tip = shallow.tip(None).unwrap();
    let parent = shallow.read_commit(tip).unwrap().parents[0];
    assert_eq!(shallow.between(tip, tip).unwrap(), []);
    let error = shallow.read_commit(parent).unwrap_err().to_string();
    assert!(error.contains("is missing or damaged"), "{error}");
    assert_eq!(full.between(parent, tip).unwrap(), [tip]);
}
