//! Tests recipes and their Dockerfile lines.

use super::*;
use crate::environment::configuration::{Files, Plugin, TestRequirement};

mod index;
mod metadata;

fn interpreter() -> Interpreter {
    Interpreter {
        version: "3.11".into(),
        image: "base:py311".into(),
        reason: String::new(),
    }
}

fn recipe(configuration: &Configuration) -> Recipe {
    let cut_off = "2024-01-05T10:00:00Z".parse().unwrap();
    Recipe::new(configuration, &interpreter(), cut_off, None).unwrap()
}

fn test_requirement(spec: &str) -> TestRequirement {
    TestRequirement {
        spec: spec.into(),
        place: "tox.ini".into(),
    }
}

#[test]
fn an_index_that_leaves_out_times_is_made_to_tell_them() {
    let mut recipe = recipe(&Configuration {
        installable: true,
        ..Configuration::default()
    });
    let plain = (recipe.lines(), recipe.files());
    recipe.index_without_times = Some("https://index.example/a b/simple".into());
    let lines = recipe.lines();
    let changed = lines.iter().filter(|line| !plain.0.contains(line));
    let changed: Vec<_> = changed.collect();
    assert_eq!(changed.len(), 3, "{changed:?}");
    assert_eq!(changed[0], "COPY environment/index.py /tmp/index.py");
    let pips = ["/opt/tools/bin/pip wheel", "/opt/tools/bin/pip --python"];
    for (line, pip) in changed[1..].iter().zip(pips) {
        let wrapped = format!("python3 /tmp/index.py 'https://index.example/a b/simple' {pip}");
        assert!(line.contains(&wrapped), "{line}");
    }
    let names: Vec<_> = recipe.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), plain.1.len() + 1);
    assert!(names.contains(&"environment/index.py".to_owned()));
}

#[test]
fn an_installable_project_line_by_line() {
    let recipe = recipe(&Configuration {
        installable: true,
        version_from_vcs: true,
        extras_for_tests: vec!["test".into(), "$(evil)".into()],
        test_requirements: vec![
            test_requirement("GitPython>=3"),
            test_requirement("pytest>=7"),
        ],
        pytest_plugins: vec![Plugin {
            distribution: "pytest-cov".into(),
            reason: "setup.cfg has\n--cov".into(),
        }],
        env_vars: vec![("A".into(), "b c".into())],
        ..Configuration::default()
    });
    let settings = "unset PIP_FIND_LINKS; export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_PROGRESS_BAR=off";
    let of_the_day = format!("{settings} PIP_UPLOADED_PRIOR_TO=2024-01-05T10:00:00Z");
    let expect = [
        format!("RUN {settings}; python3 -m venv /opt/tools && /opt/tools/bin/pip install -q 'pip>=26.0,<27' && python3 -m venv --without-pip /opt/venv"),
        "RUN export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -qq -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*".into(),
        "ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1".into(),
        "ENV A='b c'".into(),
        "COPY code /tmp/code".into(),
        format!("RUN {of_the_day} SETUPTOOLS_SCM_PRETEND_VERSION=0.0.1 PBR_VERSION=0.0.1 POETRY_DYNAMIC_VERSIONING_BYPASS=0.0.1; cp -r /tmp/code /tmp/build && /opt/tools/bin/pip wheel --no-deps -w /tmp/wheel /tmp/build && case \"$(ls /tmp/wheel)\" in *-none-any.whl) ;; *) echo \"swe-ci: the project's wheel is compiled: $(ls /tmp/wheel)\"; exit 1;; esac"),
        "COPY environment/requirements.txt /tmp/requirements.txt".into(),
        format!("RUN {of_the_day}; /opt/tools/bin/pip --python /opt/venv/bin/python install \"$(ls /tmp/wheel/*.whl)[test]\" -r /tmp/requirements.txt"),
        format!("RUN {settings}; /opt/tools/bin/pip --python /opt/venv/bin/python list --format=freeze > /tmp/there.txt && /opt/tools/bin/pip --python /opt/venv/bin/python install -c /tmp/there.txt 'pytest-json-report==1.5.0'"),
        "COPY environment/metadata.py /tmp/metadata.py".into(),
        "RUN /opt/venv/bin/python /tmp/metadata.py /tmp/code /tmp/wheel/*.whl /opt/generated /app/code".into(),
        "RUN rm -rf /tmp/code /tmp/build /tmp/wheel /tmp/*.txt /tmp/*.py /opt/tools".into(),
        "WORKDIR /app/code".into(),
    ];
    assert_eq!(recipe.lines(), expect);
    let files = recipe.files();
    assert_eq!(files[0].0, "environment/requirements.txt");
    assert_eq!(
        files[0].1,
        "# tox.ini\nGitPython>=3\n# tox.ini\npytest>=7\n# setup.cfg has --cov\npytest-cov\n"
    );
    assert_eq!(files[1].0, "environment/metadata.py");
}

#[test]
fn a_project_that_is_not_installable_has_its_dependencies_alone() {
    let recipe = recipe(&Configuration {
        dependencies: vec!["a>=1".into(), "-e .".into()],
        ..Configuration::default()
    });
    assert_eq!(recipe.project_install, ProjectInstall::Nothing);
    let text = recipe.lines().join("\n");
    assert!(
        !text.contains("pip wheel") && !text.contains("COPY code"),
        "{text}"
    );
    assert!(
        text.contains("python install -r /tmp/requirements.txt"),
        "{text}"
    );
    assert_eq!(
        recipe.files()[0].1,
        "# the project depends on it\na>=1\n# runs the tests\npytest\n"
    );
}

#[test]
fn compiled_projects_are_refused() {
    let configuration = Configuration {
        compiled: Some("setup.py contains ext_modules".into()),
        ..Configuration::default()
    };
    let cut_off = Timestamp::UNIX_EPOCH;
    let error = Recipe::new(&configuration, &interpreter(), cut_off, None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ext_modules") && error.contains("Skip this commit"),
        "{error}"
    );
}

/// Checks the reason for a commit with these files.
#[test]
fn compiled_projects_are_recognised_by_their_files() {
    let refused = |files: &[(&str, &str)]| {
        let files = files.iter();
        let files: Files = files
            .map(|(p, text)| ((*p).into(), (*text).into()))
            .collect();
        let configuration = Configuration::read(&files);
        let made = Recipe::new(&configuration, &interpreter(), Timestamp::UNIX_EPOCH, None);
        made.err().map(|error| error.to_string())
    };
    let check = |files: &[(&str, &str)], expect: &str| {
        let error = refused(files).unwrap_or_default();
        assert!(
            error.contains(expect) && error.contains("Skip this commit"),
            "{files:?}: {error}"
        );
    };
    check(
        &[(
            "setup.py",
            "setup(name='a', ext_modules=[Extension('a', ['a.c'])])",
        )],
        "setup.py contains ext_modules",
    );
    check(
        &[("setup.py", "setup(name='a', setup_requires=['cython'])")],
        "builds with cython",
    );
    let builds = [
        ("maturin>=1,<2", "maturin", "Rust, with maturin"),
        (
            "setuptools-rust",
            "setuptools.build_meta",
            "Rust, with setuptools-rust",
        ),
        ("scikit-build", "setuptools.build_meta", "with scikit-build"),
        (
            "scikit_build_core>=0.9",
            "scikit_build_core.build",
            "with scikit-build-core",
        ),
        ("Cython>=3", "setuptools.build_meta", "compiles Cython"),
    ];
    for (requires, backend, expect) in builds {
        let text = format!(
            "[build-system]\nrequires=['wheel', '{requires}']\nbuild-backend='{backend}'\n[project]\nname='a'\n"
        );
        check(&[("pyproject.toml", &text)], expect);
    }
    assert_eq!(refused(&[("setup.py", "setup(name='a')")]), None);
}

#[test]
fn requirements_are_named_once() {
    let mut recipe = recipe(&Configuration {
        name: Some("Its_Own".into()),
        ..Configuration::default()
    });
    assert!(!recipe.require("its-own[extra]", "its code would be in it"));
    assert!(recipe.require("Flask_Login>=1", "why"));
    assert!(!recipe.require("flask-login", "again"));
    assert!(recipe.require("a ; python_version < '3'", "why"));
    assert!(recipe.require("a ; python_version >= '3'", "the other case"));
    assert!(!recipe.require("--index-url https://x", "an option"));
    assert!(!recipe.require("./a", "a path"));
    assert!(recipe.drop_requirement("Flask.Login"));
    assert!(!recipe.drop_requirement("flask-login"));
    assert!(recipe.require_system("git", "why"));
    assert!(!recipe.require_system("git", "again"));
    let json = serde_json::to_string(&recipe).unwrap();
    assert_eq!(serde_json::from_str::<Recipe>(&json).unwrap(), recipe);
}
