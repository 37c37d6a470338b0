//! Tests the facts about a repository and the reasons to refuse it.

use swe_ci_candidates::testing::{History, SUBMODULE};
use swe_ci_candidates::{CollectRules, Facts, Licences, unwatched};
use swe_ci_git::{ObjectId, ObjectKind, Repository};

use crate::project;

fn facts(history: &History) -> Facts {
    swe_ci_candidates::facts(history.folder(), "HEAD", &unwatched).unwrap()
}

/// Three years later, without other changes.
fn age(history: &History, years: i64) {
    let repository = Repository::open(history.folder()).unwrap();
    let parent = repository.tip(None).unwrap();
    let tip = repository.read_commit(parent).unwrap();
    let time = tip.time + years * 31_557_600;
    let tree = tip.tree;
    let raw = format!(
        "tree {tree}\nparent {parent}\nauthor A <a@b> {time} +0000\ncommitter A <a@b> {time} +0000\n\nlater\n"
    );
    let id = history.object(ObjectKind::Commit, raw).unwrap();
    history.reference("refs/heads/main", id).unwrap();
}

#[test]
fn facts_of_a_repository() {
    let (_folder, mut history) = project();
    history.write("uv.lock", "").unwrap();
    history.write("requirements/dev.txt", "b\n").unwrap();
    history
        .write("setup.cfg", "[flake8]\nmax=1\n[metadata]\nname=p\n")
        .unwrap();
    history
        .write("setup.py", "setup(license='Apache 2.0')")
        .unwrap();
    history.write("COPYING", "Do as you please.").unwrap();
    history.write("p/test_more.py", "").unwrap();
    history.write("tests/conftest.py", "").unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789012345678901234567890123456789012345678901234567890123\nsize 12345\n";
    history.write(b"data\xff.bin", pointer).unwrap();
    history.link("p/out", "../../secret").unwrap();
    history.link("p/in", "../LICENSE").unwrap();
    history.enter("lib", SUBMODULE, "1".repeat(40).parse().unwrap());
    let first = history.commit("one").unwrap();
    age(&history, 4);
    let facts = facts(&history);
    assert_eq!(facts.commits, 2);
    assert!((facts.age_years - 4.0).abs() < 1e-9, "{}", facts.age_years);
    assert_eq!(
        (facts.source_files, facts.test_modules, facts.test_files),
        (2, 1, 3)
    );
    assert_eq!(facts.files, 14);
    assert_eq!(
        facts.manifests,
        [
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "requirements/dev.txt"
        ]
    );
    assert_eq!(facts.lock_files, ["uv.lock"]);
    let licences: Vec<_> = facts
        .licences
        .iter()
        .map(|l| (l.file.as_str(), l.spdx.as_str()))
        .collect();
    assert_eq!(licences, [("LICENSE", "MIT"), ("setup.py", "Apache-2.0")]);
    assert_eq!(facts.unknown_licences, ["COPYING"]);
    assert_eq!(
        (facts.submodules.count, &*facts.submodules.first),
        (1, &["lib".to_owned()][..])
    );
    assert_eq!(facts.lfs_pointers.first, ["data\u{fffd}.bin"]);
    assert_eq!(facts.links_outside.first, ["p/out"]);
    let json = serde_json::to_string(&facts).unwrap();
    assert_eq!(serde_json::from_str::<Facts>(&json).unwrap(), facts);
    let earlier =
        swe_ci_candidates::facts(history.folder(), &first.to_string(), &unwatched).unwrap();
    assert_eq!((earlier.commits, earlier.age_years), (1, 0.0));
}

#[test]
fn refusals_name_the_violated_rule() {
    let check = |change: &dyn Fn(&mut History), rules: &CollectRules, expect: &[&str]| {
        let (_folder, mut history) = project();
        change(&mut history);
        history.commit("one").unwrap();
        age(&history, 3);
        let text: Vec<_> = rules
            .refuse(&facts(&history))
            .iter()
            .map(ToString::to_string)
            .collect();
        let fits =
            text.len() == expect.len() && text.iter().zip(expect).all(|(t, e)| t.contains(e));
        assert!(fits, "{expect:?}: {text:?}");
    };
    let rules = CollectRules::default();
    let nothing: &dyn Fn(&mut History) = &|_| {};
    check(nothing, &rules, &[]);
    check(
        nothing,
        &CollectRules {
            min_age_years: 3.5,
            ..rules.clone()
        },
        &["3.0 years from the first commit to the last, at least 3.5"],
    );
    check(
        nothing,
        &CollectRules {
            require_lock_file: true,
            ..rules.clone()
        },
        &["no lock file"],
    );
    check(
        &|h| h.remove("pyproject.toml"),
        &rules,
        &["no pyproject.toml, setup.cfg"],
    );
    check(
        &|h| {
            h.remove("tests");
            h.write("p/tests/test_a.py", "").unwrap();
        },
        &rules,
        &["no test_*.py or *_test.py in tests/ (1 test files elsewhere)"],
    );
    check(
        &|h| h.remove("p"),
        &rules,
        &["no Python outside of tests among 3 files"],
    );
    check(&|h| h.remove("LICENSE"), &rules, &["no licence stated"]);
    check(
        &|h| h.write("LICENSE", "Mine.").unwrap(),
        &rules,
        &["(LICENSE was not recognised)"],
    );
    check(
        &|h| {
            h.write("COPYING", "GNU GENERAL PUBLIC LICENSE\nVersion 3")
                .unwrap();
        },
        &rules,
        &["COPYING states GPL-3.0, a permissive licence required"],
    );
    check(
        &|h| h.remove("LICENSE"),
        &CollectRules {
            licences: Licences::Any,
            ..rules.clone()
        },
        &[],
    );
    let apache = CollectRules {
        licences: Licences::Listed(vec!["Apache-2.0".into()]),
        ..rules.clone()
    };
    check(
        nothing,
        &apache,
        &["LICENSE states MIT, one of Apache-2.0 required"],
    );
    let strict = CollectRules {
        allow_submodules: false,
        allow_lfs: false,
        ..rules.clone()
    };
    let id: ObjectId = "1".repeat(40).parse().unwrap();
    check(
        &|h| h.enter("lib", SUBMODULE, id),
        &strict,
        &["1 submodules (first: lib), none allowed"],
    );
    check(
        &|h| h.link("out", "/etc").unwrap(),
        &rules,
        &["1 links out of the repository (first: out)"],
    );
    check(
        &|h| {
            ["p", "tests", "LICENSE"]
                .iter()
                .for_each(|path| h.remove(path));
        },
        &rules,
        &["no test_", "no Python", "no licence"],
    );
}

#[test]
fn rules_travel_as_json() {
    let rules: CollectRules = serde_json::from_str(r#"{"licences": {"listed": ["MIT"]}}"#).unwrap();
    assert_eq!(rules.licences, Licences::Listed(vec!["MIT".into()]));
    let rules: CollectRules = serde_json::from_str(r#"{"licences": "permissive"}"#).unwrap();
    assert_eq!(rules, CollectRules::default());
    assert!(serde_json::from_str::<CollectRules>(r#"{"stars": 500}"#).is_err());
}
