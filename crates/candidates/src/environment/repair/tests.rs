//! Tests the repair of recipes.

use super::*;
use crate::environment::configuration::{Configuration, TestRequirement};
use crate::environment::distribution::Evidence;
use crate::environment::python::Interpreter;

fn recipe(specs: &[&str], extras: &[&str]) -> Recipe {
    let wanted = specs.iter().map(|spec| TestRequirement {
        spec: (*spec).into(),
        place: "tox.ini".into(),
    });
    let configuration = Configuration {
        installable: true,
        test_requirements: wanted.collect(),
        extras_for_tests: extras.iter().map(|s| (*s).to_owned()).collect(),
        dependencies: vec!["runtime".into()],
        ..Configuration::default()
    };
    let interpreter = Interpreter {
        version: "3.11".into(),
        image: "base".into(),
        reason: String::new(),
    };
    Recipe::new(
        &configuration,
        &interpreter,
        jiff::Timestamp::UNIX_EPOCH,
        None,
    )
    .unwrap()
}

fn found(module: &str, distribution: &str) -> BTreeMap<String, Provider> {
    let found = Provider {
        distribution: distribution.into(),
        version: "1".into(),
        file: format!("{distribution}-1-py3-none-any.whl"),
        evidence: Evidence::Table,
    };
    BTreeMap::from([(module.to_owned(), found)])
}

fn missing(module: &str) -> Finding {
    Finding::MissingModule {
        module: module.into(),
    }
}

/// The changes one attempt makes to a recipe, and a part of its reasons.
fn check(
    recipe: &Recipe,
    findings: &[Finding],
    actions: &[Action],
    reason: &str,
) -> Option<Recipe> {
    let mut repair = Repair::new(3);
    let next = repair.next(recipe, findings, &found("yaml", "PyYAML"));
    let attempt = &repair.attempts[0];
    assert_eq!(attempt.actions, actions, "{findings:?}");
    assert!(
        attempt.reasons.join("\n").contains(reason),
        "{:?}",
        attempt.reasons
    );
    assert_eq!(next.is_some(), !actions.is_empty());
    next
}

fn require(spec: &str) -> Action {
    Action::Require { spec: spec.into() }
}

fn install(package: &str) -> Action {
    Action::InstallSystem {
        package: package.into(),
    }
}

#[test]
fn findings_have_actions() {
    let plain = recipe(&[], &[]);
    let next = check(
        &plain,
        &[missing("yaml")],
        &[require("PyYAML")],
        "PyYAML-1-py3-none-any.whl contains it (listed in the table)",
    )
    .unwrap();
    assert_eq!(next.requirements.last().unwrap().spec, "PyYAML");
    check(
        &plain,
        &[missing("strange")],
        &[],
        "no known distribution provides the module strange",
    );
    check(
        &recipe(&["pyyaml"], &[]),
        &[missing("yaml")],
        &[],
        "already required",
    );
    check(
        &plain,
        &[Finding::OwnModule {
            module: "mine.x".into(),
        }],
        &[],
        "the project's own",
    );
    check(
        &plain,
        &[Finding::MissingName {
            name: "a".into(),
            module: "b".into(),
        }],
        &[],
        "different version",
    );
    let mut own = plain.clone();
    own.project = Some("mine".into());
    let metadata = Finding::MissingDistribution {
        distribution: "mine".into(),
    };
    check(&own, &[metadata], &[], "mine is the project itself");
    let plugin = Finding::MissingPlugin {
        distribution: "pytest-mock".into(),
        used: "the fixture mocker".into(),
    };
    check(
        &plain,
        &[plugin],
        &[require("pytest-mock")],
        "the fixture mocker",
    );
    check(
        &plain,
        &[Finding::MissingLibrary {
            file: "libGL.so.1".into(),
        }],
        &[install("libgl1")],
        "libGL.so.1",
    );
    check(
        &plain,
        &[Finding::MissingLibrary {
            file: "libx.so".into(),
        }],
        &[],
        "no known Debian package",
    );
    check(
        &plain,
        &[Finding::MissingCommand {
            command: "git".into(),
        }],
        &[install("git")],
        "git provides it",
    );
    check(
        &plain,
        &[Finding::NoTimeZones],
        &[install("tzdata")],
        "time zones",
    );
    let header = Finding::MissingHeader {
        path: "ffi.h".into(),
    };
    check(&plain, &[header], &[install("libffi-dev")], "ffi.h");
    let next = check(
        &plain,
        &[Finding::NoVersionOfProject],
        &[Action::PretendVersion {
            version: "0.0.1".into(),
        }],
        "comes from tags",
    );
    assert_eq!(next.unwrap().version.as_deref(), Some("0.0.1"));
    let next = check(
        &plain,
        &[Finding::ProjectNotBuilt],
        &[Action::WithoutProject],
        "only its dependencies",
    )
    .unwrap();
    assert!(next.requirements.iter().any(|r| r.spec == "runtime"));
    // Not if the build failed for a repairable reason.
    check(
        &plain,
        &[Finding::NoVersionOfProject, Finding::ProjectNotBuilt],
        &[Action::PretendVersion {
            version: "0.0.1".into(),
        }],
        "",
    );
    check(
        &plain,
        &[
            Finding::Compiled {
                wheel: "x.whl".into(),
            },
            missing("yaml"),
        ],
        &[],
        "compiled (x.whl)",
    );
    let no_times = Finding::NoUploadTimes {
        index: "http://mirror".into(),
    };
    check(
        &plain,
        &[no_times, missing("yaml")],
        &[],
        "http://mirror does not publish",
    );
    check(&plain, &[], &[], "names no repairable cause");
    // Several at once.
    check(
        &plain,
        &[missing("yaml"), Finding::NoLocale],
        &[require("PyYAML"), install("locales-all")],
        "",
    );
}

#[test]
fn unavailable_requirements() {
    let none = |requirement: &str| Finding::NoVersion {
        requirement: requirement.into(),
    };
    let loosen = |project: &str| Action::Loosen {
        project: project.into(),
    };
    let next = check(
        &recipe(&["a==9"], &[]),
        &[none("a==9")],
        &[loosen("a")],
        "no release before the cut-off satisfies",
    )
    .unwrap();
    assert_eq!(next.requirements[0].spec, "a");
    check(
        &next,
        &[none("a")],
        &[Action::Drop {
            project: "a".into(),
        }],
        "a has no release before the cut-off",
    );
    check(
        &recipe(&[], &["test"]),
        &[none("a==9")],
        &[Action::WithoutExtras],
        "extras are dropped",
    );
    check(
        &recipe(&[], &[]),
        &[none("a==9")],
        &[],
        "not a test requirement",
    );
    check(
        &recipe(&[], &[]),
        &[none("pytest")],
        &[],
        "not a test requirement",
    );
    let conflict = Finding::Conflict {
        requirements: vec!["b==1".into(), "a==1".into()],
    };
    check(
        &recipe(&["a==1"], &[]),
        std::slice::from_ref(&conflict),
        &[loosen("a")],
        "requirements conflict",
    );
    check(
        &recipe(&["a"], &[]),
        &[conflict],
        &[],
        "requirements conflict",
    );
}

#[test]
fn failed_builds_get_a_compiler_and_are_dropped_next() {
    let mut repair = Repair::new(5);
    let failed = [Finding::NotBuilt {
        distribution: "lxml".into(),
    }];
    let first = recipe(&["lxml"], &[]);
    let second = repair.next(&first, &failed, &BTreeMap::new()).unwrap();
    let names: Vec<_> = second
        .system_packages
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(names, ["gcc", "libxml2-dev", "libxslt1-dev", "python3-dev"]);
    let third = repair.next(&second, &failed, &BTreeMap::new()).unwrap();
    assert!(third.requirements.iter().all(|r| r.spec != "lxml"));
    assert_eq!(repair.next(&third, &failed, &BTreeMap::new()), None);
}

#[test]
fn repairs_are_not_repeated_and_end() {
    let mut repair = Repair::new(2);
    let first = recipe(&[], &[]);
    let second = repair
        .next(&first, &[missing("yaml")], &found("yaml", "PyYAML"))
        .unwrap();
    assert_eq!(
        repair.next(&second, &[missing("yaml")], &found("yaml", "PyYAML")),
        None
    );
    assert!(repair.attempts[1].reasons[0].contains("without success"));
    // From the first recipe again: the action still counts as taken.
    assert_eq!(
        repair.next(&first, &[missing("yaml")], &found("yaml", "PyYAML")),
        None
    );
    let third = repair
        .next(&second, &[missing("bs4")], &found("bs4", "beautifulsoup4"))
        .unwrap();
    assert_eq!(
        repair.next(&third, &[missing("attr")], &found("attr", "attrs")),
        None
    );
    assert_eq!(
        repair.attempts.last().unwrap().reasons,
        ["the limit of 2 repairs is reached"]
    );
    let numbers: Vec<_> = repair
        .attempts
        .iter()
        .map(|attempt| attempt.number)
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let json = serde_json::to_string(&repair).unwrap();
    assert!(
        json.contains(r#""actions":[{"do":"require","spec":"PyYAML"}]"#),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<Repair>(&json).unwrap(), repair);
}

#[test]
fn a_tool_that_cannot_be_imported_is_required_in_its_newest_version() {
    let broken = [Finding::BrokenModule {
        module: "yaml".into(),
    }];
    let pinned = Action::Pin {
        project: "pyyaml".into(),
        version: "1".into(),
    };
    let before = recipe(&["PyYAML<1"], &[]);
    let after = check(&before, &broken, &[pinned], "the newest PyYAML").unwrap();
    let specs: Vec<&str> = after.requirements.iter().map(|r| r.spec.as_str()).collect();
    assert!(
        specs.contains(&"PyYAML==1") && !specs.contains(&"PyYAML<1"),
        "{specs:?}"
    );
}
