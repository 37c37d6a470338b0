use super::*;
use crate::environment::configuration::{Configuration, Wanted};
use crate::environment::distribution::Evidence;
use crate::environment::python::Interpreter;

fn recipe(specs: &[&str], extras: &[&str]) -> Recipe {
    let wanted = specs.iter().map(|spec| Wanted {
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

fn found(module: &str, distribution: &str) -> BTreeMap<String, Found> {
    let found = Found {
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

/// What one attempt does to a recipe, and a part of its reasons.
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
fn what_is_done_about_a_finding() {
    let plain = recipe(&[], &[]);
    let next = check(
        &plain,
        &[missing("yaml")],
        &[require("PyYAML")],
        "PyYAML-1-py3-none-any.whl has it (known by this name)",
    )
    .unwrap();
    assert_eq!(next.requirements.last().unwrap().spec, "PyYAML");
    check(
        &plain,
        &[missing("strange")],
        &[],
        "no distribution is known to provide the module strange",
    );
    check(
        &recipe(&["pyyaml"], &[]),
        &[missing("yaml")],
        &[],
        "required already",
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
        "another version",
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
        "no package of Debian is known",
    );
    check(
        &plain,
        &[Finding::MissingCommand {
            command: "git".into(),
        }],
        &[install("git")],
        "git brings it",
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
        "in tags",
    );
    assert_eq!(next.unwrap().version.as_deref(), Some("0.0.1"));
    let next = check(
        &plain,
        &[Finding::ProjectNotBuilt],
        &[Action::WithoutProject],
        "without it",
    )
    .unwrap();
    assert!(next.requirements.iter().any(|r| r.spec == "runtime"));
    // Not where the build failed for a reason that can be mended.
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
        "http://mirror does not tell",
    );
    check(&plain, &[], &[], "names no cause");
    // Many at once.
    check(
        &plain,
        &[missing("yaml"), Finding::NoLocale],
        &[require("PyYAML"), install("locales-all")],
        "",
    );
}

#[test]
fn requirements_that_cannot_be_had() {
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
        "nothing of the day",
    )
    .unwrap();
    assert_eq!(next.requirements[0].spec, "a");
    check(
        &next,
        &[none("a")],
        &[Action::Drop {
            project: "a".into(),
        }],
        "there was no a on the day",
    );
    check(
        &recipe(&[], &["test"]),
        &[none("a==9")],
        &[Action::WithoutExtras],
        "extras are left out",
    );
    check(
        &recipe(&[], &[]),
        &[none("a==9")],
        &[],
        "not for tests alone",
    );
    check(
        &recipe(&[], &[]),
        &[none("pytest")],
        &[],
        "not for tests alone",
    );
    let conflict = Finding::Conflict {
        requirements: vec!["b==1".into(), "a==1".into()],
    };
    check(
        &recipe(&["a==1"], &[]),
        std::slice::from_ref(&conflict),
        &[loosen("a")],
        "exclude each other",
    );
    check(&recipe(&["a"], &[]), &[conflict], &[], "exclude each other");
}

#[test]
fn what_is_not_built_gets_a_compiler_and_then_is_left_out() {
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
fn nothing_is_tried_twice_and_not_for_ever() {
    let mut repair = Repair::new(2);
    let first = recipe(&[], &[]);
    let second = repair
        .next(&first, &[missing("yaml")], &found("yaml", "PyYAML"))
        .unwrap();
    assert_eq!(
        repair.next(&second, &[missing("yaml")], &found("yaml", "PyYAML")),
        None
    );
    assert!(repair.attempts[1].reasons[0].contains("it did not help"));
    // From the first recipe again: the action was taken all the same.
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
        ["2 repairs were made, and 2 are allowed"]
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
