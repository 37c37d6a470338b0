//! Tests hostile and damaged repositories.

use std::os::unix::fs::symlink;

use swe_ci_git::testing::{object_file, write_object, write_reference, write_tree};
use swe_ci_git::{ObjectId, ObjectKind, Repository, bounds};

use crate::{Bare, commit_on};

/// Everything a reader of tasks does.
fn read_all(bare: &Bare) -> anyhow::Result<()> {
    let repository = Repository::open(bare.path())?;
    let tip = repository.tip(None)?;
    assert_eq!(repository.commit("main")?, tip);
    assert_eq!(repository.between(tip, tip)?, []);
    let mut blobs = Vec::new();
    repository.list(repository.root(tip)?, |_, id, _| blobs.push(id))?;
    blobs
        .into_iter()
        .try_for_each(|id| repository.blob(id, 100).map(|_| ()))
}

#[test]
fn settings_and_hooks_run_nothing() {
    let bare = Bare::new();
    let mark = bare.path().join("mark");
    let touch = format!("touch {}", mark.display());
    let included = format!("[core]\npager = {touch}\neditor = {touch}\n");
    bare.write("included", &included);
    let promisor = format!(
        "[remote \"origin\"]\nurl = ext::sh -c {touch}\npromisor = true\npartialCloneFilter = blob:none\n"
    );
    let config = format!(
        "[core]\nrepositoryFormatVersion = 0\nfsmonitor = {touch}\nhooksPath = hooks\nsshCommand = {touch}\n\
         gitProxy = {touch}\nalternateRefsCommand = {touch}\nattributesFile = attributes\n\
         [include]\npath = included\n[includeIf \"gitdir:/\"]\npath = included\n\
         [filter \"harm\"]\nsmudge = {touch}\nclean = {touch}\nprocess = {touch}\nrequired\n\
         [diff]\nexternal = {touch}\n[diff \"harm\"]\ntextconv = {touch}\n[alias]\ncat-file = !{touch}\nrev-list = !{touch}\n\
         [protocol \"ext\"]\nallow = always\n[credential]\nhelper = !{touch}\n{promisor}"
    );
    bare.write("config", &config);
    bare.write("info/attributes", "* filter=harm diff=harm\n");
    for hook in [
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
    ] {
        bare.write(&format!("hooks/{hook}"), &format!("#!/bin/sh\n{touch}\n"));
        let hook = bare.path().join("hooks").join(hook);
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(hook, executable).unwrap();
    }
    read_all(&bare).unwrap();
    // A missing object is not fetched.
    std::fs::remove_file(object_file(bare.path(), bare.blob)).unwrap();
    let error = read_all(&bare).unwrap_err().to_string();
    assert!(
        error.contains(&format!("the file {} is missing or damaged", bare.blob)),
        "{error}"
    );
    bare.write(
        "config",
        &format!("{config}[extensions]\npartialClone = origin\n"),
    );
    let error = read_all(&bare).unwrap_err().to_string();
    assert!(error.contains("without `--filter`"), "{error}");
    assert!(!mark.exists());
}

#[test]
fn histories_are_not_replaced() {
    let bare = Bare::new();
    let empty = write_tree(bare.path(), &[]).unwrap();
    let other = commit_on(bare.path(), empty, &[]);
    write_reference(bare.path(), &format!("refs/replace/{}", bare.commit), other).unwrap();
    let repository = Repository::open(bare.path()).unwrap();
    assert_eq!(repository.root(bare.commit).unwrap(), bare.tree);
    assert_eq!(
        repository.between(other, bare.commit).unwrap(),
        [bare.commit]
    );
    for file in ["info/grafts", "objects/info/alternates", "commondir"] {
        bare.write(file, "/\n");
        let error = Repository::open(bare.path()).unwrap_err().to_string();
        assert!(error.contains(file), "{error}");
        std::fs::remove_file(bare.path().join(file)).unwrap();
    }
}

#[test]
fn links_are_refused() {
    let elsewhere = Bare::new();
    for part in [
        "HEAD",
        "config",
        "packed-refs",
        "shallow",
        "objects",
        "objects/pack",
        "refs",
        "refs/heads",
        "refs/heads/main",
        "refs/x",
    ] {
        let bare = Bare::new();
        let path = bare.path().join(part);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            std::fs::remove_file(&path).unwrap();
        }
        symlink(elsewhere.path().join(part), &path).unwrap();
        let error = format!("{:#}", Repository::open(bare.path()).unwrap_err());
        let expect = format!("{part} is a symbolic link");
        assert!(error.contains(&expect), "{part}: {error}");
    }
    let bare = Bare::new();
    std::fs::remove_file(bare.path().join("config")).unwrap();
    std::fs::create_dir(bare.path().join("config")).unwrap();
    let error = format!("{:#}", Repository::open(bare.path()).unwrap_err());
    assert!(error.contains("config is not a file"), "{error}");
}

#[test]
fn objects_are_what_their_ids_say() {
    let bare = Bare::new();
    let other = write_object(bare.path(), ObjectKind::Blob, b"a = 2\n").unwrap();
    let file = |id| object_file(bare.path(), id);
    let check = |id: ObjectId| {
        let repository = Repository::open(bare.path()).unwrap();
        let error = repository.blob(id, 100).unwrap_err().to_string();
        assert!(
            error.contains(&format!("the file {id} is missing or damaged")),
            "{error}"
        );
        // Other objects are still read.
        assert_eq!(repository.root(bare.commit).unwrap(), bare.tree);
    };
    std::fs::copy(file(other), file(bare.blob)).unwrap();
    check(bare.blob);
    for damaged in [
        &b""[..],
        b"garbage",
        &std::fs::read(file(other)).unwrap()[..10],
    ] {
        std::fs::write(file(other), damaged).unwrap();
        check(other);
    }
    std::fs::remove_file(file(other)).unwrap();
    check(other);
    let repository = Repository::open(bare.path()).unwrap();
    let error = repository.blob(bare.tree, 100).unwrap_err().to_string();
    assert!(error.ends_with("it is actually a tree"), "{error}");
}

#[test]
fn files_that_are_too_long_are_not_read() {
    let bare = Bare::new();
    let repository = Repository::open(bare.path()).unwrap();
    let long = vec![b'a'; 9 << 20];
    let long = write_object(bare.path(), ObjectKind::Blob, &long).unwrap();
    for _ in 0..3 {
        assert_eq!(repository.blob(long, 8 << 20).unwrap(), None);
        assert_eq!(repository.blob(bare.blob, 5).unwrap(), None);
        assert_eq!(repository.blob(bare.blob, 6).unwrap().unwrap(), b"a = 1\n");
    }
    assert_eq!(
        repository.blob(long, 9 << 20).unwrap().unwrap().len(),
        9 << 20
    );
}

#[test]
fn malformed_objects_are_errors() {
    let bare = Bare::new();
    let repository = Repository::open(bare.path()).unwrap();
    let write = |kind, content: &[u8]| write_object(bare.path(), kind, content).unwrap();
    for broken in [
        "",
        "tree x\n",
        &format!("tree {}\n\nm", bare.tree),
        "\0\0\n\n",
    ] {
        let id = write(ObjectKind::Commit, broken.as_bytes());
        let error = repository.read_commit(id).unwrap_err().to_string();
        assert!(
            error.contains(&format!("the commit {id} is missing or damaged")),
            "{error}"
        );
    }
    for broken in [
        &b"100644 a\0short"[..],
        b"100644",
        b"\0",
        b"x a\0aaaaaaaaaaaaaaaaaaaa",
    ] {
        let id = write(ObjectKind::Tree, broken);
        let error = repository.list(id, |_, _, _| {}).unwrap_err().to_string();
        assert!(
            error.contains(&format!("the folder {id} is missing or damaged")),
            "{error}"
        );
    }
    let long = format!("tree {}\n{}", bare.tree, "x".repeat(bounds::COMMIT));
    let error = repository.read_commit(write(ObjectKind::Commit, long.as_bytes()));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("more than the limit of 1048576"), "{error}");
}
