//! Tests branches, revisions and the commits between two others.

use swe_ci_git::ObjectKind;
use swe_ci_git::Repository;
use swe_ci_git::testing::{write_object, write_reference};

use crate::{Bare, commit_on};

#[test]
fn first_parents_between_two_commits() {
    let bare = Bare::new();
    let on = |parents: &[_]| commit_on(bare.path(), bare.tree, parents);
    let one = bare.commit;
    let two = on(&[one]);
    let aside = on(&[one, one]);
    let merge = on(&[two, aside]);
    let last = on(&[merge]);
    let repository = Repository::open(bare.path()).unwrap();
    let between = |base, target| repository.between(base, target).unwrap();
    assert_eq!(between(one, last), [two, merge, last]);
    assert_eq!(between(aside, last), [two, merge, last]);
    assert_eq!(between(last, one), []);
    let missing = "1".repeat(40).parse().unwrap();
    assert!(repository.between(missing, last).is_err());
}

#[test]
fn references_that_are_no_commits() {
    let bare = Bare::new();
    let reference = |name, id| write_reference(bare.path(), name, id).unwrap();
    let check = |name: Option<&str>, expect: &str| {
        let error = Repository::open(bare.path()).unwrap().tip(name);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    reference("refs/heads/tree", bare.tree);
    check(Some("tree"), "`refs/heads/tree` of ");
    let tag = format!("object {}\ntype blob\ntag t\n\nm\n", bare.blob);
    let tag = write_object(bare.path(), ObjectKind::Tag, tag.as_bytes()).unwrap();
    reference("refs/tags/t", tag);
    check(Some("refs/tags/t"), "is not a commit");
    let missing = "1".repeat(40).parse().unwrap();
    reference("refs/heads/gone", missing);
    check(Some("gone"), "the commit 1111");
    reference("HEAD", missing);
    check(None, "the commit 1111");
    for name in [
        "*",
        "ma*",
        "main~0",
        "main^{commit}",
        "-x",
        "refs/heads/ma?n",
        "\u{0}main",
    ] {
        check(Some(name), "has no branch");
    }
    let repository = Repository::open(bare.path()).unwrap();
    for revision in [
        "",
        "gone",
        "tree",
        "main:a.py",
        "--all",
        "main\n",
        "main main",
    ] {
        let error = repository.commit(revision).unwrap_err().to_string();
        assert!(error.contains("has no commit"), "{error}");
    }
    for revision in ["main", "refs/heads/main", &bare.commit.to_string()[..8]] {
        assert_eq!(repository.commit(revision).unwrap(), bare.commit);
    }
}
