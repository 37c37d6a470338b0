//! Tests reading the configuration of a project.

use super::*;

fn read(files: &[(&str, &str)]) -> Configuration {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    Configuration::read(&files.collect())
}

fn specs(configuration: &Configuration) -> Vec<&str> {
    configuration
        .test_requirements
        .iter()
        .map(|wanted| wanted.spec.as_str())
        .collect()
}

/// The tests' extras, groups and explicit requirements.
#[test]
fn test_requirements_have_an_order_of_sources() {
    let check = |files: &[(&str, &str)], extras: &[&str], groups: &[&str], wanted: &[&str]| {
        let found = read(files);
        assert_eq!(found.extras_for_tests, extras, "{files:?}");
        assert_eq!(found.groups_for_tests, groups, "{files:?}");
        assert_eq!(specs(&found), wanted, "{files:?}");
        assert!(found.unread.is_empty(), "{:?}", found.unread);
    };
    let p = |text: &'static str| ("pyproject.toml", text);
    // PEP 621.
    check(
        &[p(
            "[project.optional-dependencies]\ndev=['a']\ntests=['b']\ndocs=['c']",
        )],
        &["tests"],
        &[],
        &[],
    );
    check(
        &[p("[project.optional-dependencies]\ndev=['a']\ndocs=['c']")],
        &["dev"],
        &[],
        &[],
    );
    check(
        &[p("[project.optional-dependencies]\ndocs=['c']")],
        &[],
        &[],
        &[],
    );
    // PEP 735; a group may include others, and even itself.
    check(
        &[p(
            "[dependency-groups]\ntest=['a', {include-group='Base_'}, {include-group='test'}]\nbase-=['b>=1']\ndev=['c']",
        )],
        &[],
        &["test"],
        &["a", "b>=1"],
    );
    check(
        &[p(
            "[dependency-groups]\ndev=['c']\n[project.optional-dependencies]\ntest=['a']",
        )],
        &["test"],
        &[],
        &[],
    );
    check(
        &[p(
            "[dependency-groups]\ntest=['c']\n[project.optional-dependencies]\ntest=['a']",
        )],
        &["test"],
        &["test"],
        &["c"],
    );
    // Tools.
    check(
        &[p(
            "[tool.poetry.group.test.dependencies]\na='^1.2'\n[tool.poetry.group.docs.dependencies]\nb='*'",
        )],
        &[],
        &[],
        &["a>=1.2,<2"],
    );
    check(
        &[p(
            "[tool.poetry.dev-dependencies]\na={version='~1.2', extras=['x'], markers=\"os_name == 'posix'\"}\nb={path='../b'}\nc={git='https://x'}\nd=[{version='1'},{version='2'}]",
        )],
        &[],
        &[],
        &["a[x]>=1.2,<1.3 ; os_name == 'posix'", "c", "d==1"],
    );
    check(
        &[p("[tool.pdm.dev-dependencies]\nlint=['b']\ntest=['a']")],
        &[],
        &[],
        &["a"],
    );
    check(&[p("[tool.uv]\ndev-dependencies=['a']")], &[], &[], &["a"]);
    check(
        &[p(
            "[tool.hatch.envs.default]\ndependencies=['a']\n[tool.hatch.envs.test]\nextra-dependencies=['b']",
        )],
        &[],
        &[],
        &["b"],
    );
    check(
        &[p("[tool.hatch.envs.default]\ndependencies=['a']")],
        &[],
        &[],
        &["a"],
    );
    check(
        &[p(
            "[tool.hatch.envs.x]\nfeatures=['more']\n[project.optional-dependencies]\nmore=['a']",
        )],
        &["more"],
        &[],
        &[],
    );
    // Nothing is marked for tests: optional features may be tested.
    check(
        &[p(
            "[project.optional-dependencies]\ndocs=['c']\nrsa=['d']\nyaml=['e']",
        )],
        &["rsa", "yaml"],
        &[],
        &[],
    );
    // setuptools.
    check(
        &[(
            "setup.cfg",
            "[options.extras_require]\ntesting =\n  a\n  b>=1  # why\n",
        )],
        &["testing"],
        &[],
        &[],
    );
    check(
        &[("setup.cfg", "[options]\ntests_require = a\n")],
        &[],
        &[],
        &["a"],
    );
    check(
        &[(
            "setup.py",
            "setup(extras_require={'test': ['a'], 'doc': []})",
        )],
        &["test"],
        &[],
        &[],
    );
    check(
        &[("setup.py", "setup(tests_require=['a', 'b'])")],
        &[],
        &[],
        &["a", "b"],
    );
    check(
        &[("setup.py", "setup(tests_require=read('x'))")],
        &[],
        &[],
        &[],
    );
    // tox.
    check(
        &[
            (
                "tox.ini",
                "[testenv]\ndeps =\n  a\n  py37: b\n  -r{toxinidir}/t.txt\n  {[base]deps}\n  .[x]\n",
            ),
            ("t.txt", "c\n"),
        ],
        &[],
        &[],
        &["a", "c"],
    );
    check(
        &[
            ("tox.ini", "[testenv]\nextras = check\n"),
            ("setup.cfg", "[options.extras_require]\ncheck = a\n"),
        ],
        &["check"],
        &[],
        &[],
    );
    check(
        &[p(
            "[tool.tox]\nlegacy_tox_ini = '''\n[testenv]\ndeps = a\n'''",
        )],
        &[],
        &[],
        &["a"],
    );
    check(
        &[("setup.cfg", "[tox:testenv]\ndeps = a\n")],
        &[],
        &[],
        &["a"],
    );
    // Requirements files.
    check(
        &[
            ("requirements-dev.txt", "a\n"),
            ("requirements-test.txt", "b\n"),
        ],
        &[],
        &[],
        &["b"],
    );
    check(
        &[
            ("requirements/tests.txt", "-r base.txt\nb\n"),
            ("requirements/base.txt", "a\n"),
        ],
        &[],
        &[],
        &["a", "b"],
    );
    check(&[("dev-requirements.txt", "a\n-e .\n")], &[], &[], &["a"]);
    check(&[("requirements.txt", "a\n")], &[], &[], &["a"]);
    check(
        &[("Pipfile", "[packages]\nx='*'\n[dev-packages]\na='==1'")],
        &[],
        &[],
        &["a==1"],
    );
    // Explicit requirements for tests precede those for developers.
    check(
        &[
            ("tox.ini", "[testenv]\ndeps = a\n"),
            p("[project.optional-dependencies]\ndev=['b']"),
        ],
        &[],
        &[],
        &["a"],
    );
}

#[test]
fn project_metadata() {
    let found = read(&[(
        "pyproject.toml",
        "[build-system]\nrequires=['hatchling', 'hatch-vcs']\nbuild-backend='hatchling.build'\n\
         [project]\nname='a'\nrequires-python='>=3.8'\ndependencies=['b']\n\
         classifiers=['Programming Language :: Python :: 3', 'Programming Language :: Python :: 3.11', 'Topic :: x']",
    )]);
    assert_eq!(found.name.as_deref(), Some("a"));
    assert_eq!(found.requires_python.as_deref(), Some(">=3.8"));
    assert_eq!(found.python_classifiers, ["3.11"]);
    assert_eq!(found.dependencies, ["b"]);
    assert_eq!(
        found.build_system.backend.as_deref(),
        Some("hatchling.build")
    );
    assert!(found.installable && found.version_from_vcs && found.compiled.is_none());

    let check = |files: &[(&str, &str)], expect: (bool, Option<&str>, &[&str])| {
        let found = read(files);
        let dependencies: Vec<_> = found.dependencies.iter().map(String::as_str).collect();
        assert_eq!(
            (
                found.installable,
                found.requires_python.as_deref(),
                &dependencies[..]
            ),
            expect,
            "{files:?}"
        );
    };
    check(
        &[(
            "setup.py",
            "setup(python_requires='>=3.7', install_requires='''a\nb>=1''')",
        )],
        (true, Some(">=3.7"), &["a", "b>=1"]),
    );
    check(
        &[(
            "setup.cfg",
            "[options]\npython_requires = >=3.7\ninstall_requires =\n  a\n",
        )],
        (false, Some(">=3.7"), &["a"]),
    );
    check(
        &[("requirements.txt", "a\nb==1\n")],
        (false, None, &["a", "b==1"]),
    );
    check(
        &[(
            "pyproject.toml",
            "[tool.poetry.dependencies]\npython='^3.8'\na='^1'\nb={version='1', optional=true}",
        )],
        (false, Some(">=3.8,<4"), &["a>=1,<2"]),
    );
    check(
        &[(
            "Pipfile",
            "[requires]\npython_version='3.9'\n[packages]\na='*'",
        )],
        (false, Some("==3.9.*"), &["a"]),
    );
    check(
        &[("pyproject.toml", "[tool.black]\nx=1")],
        (false, None, &[]),
    );
}

#[test]
fn versions_from_tags() {
    let check = |files: &[(&str, &str)], expect: bool| {
        assert_eq!(read(files).version_from_vcs, expect, "{files:?}");
    };
    check(
        &[(
            "pyproject.toml",
            "[build-system]\nrequires=['setuptools_scm[toml]>=6']",
        )],
        true,
    );
    check(&[("pyproject.toml", "[tool.setuptools_scm]")], true);
    check(&[("setup.py", "setup(use_scm_version=True)")], true);
    check(&[("setup.py", "setup(setup_requires=['pbr'])")], true);
    check(&[("setup.py", "setup(version='1')")], false);
    // A source distribution contains its version.
    check(
        &[
            ("setup.py", "setup(use_scm_version=True)"),
            ("PKG-INFO", "Version: 1"),
        ],
        false,
    );
}

#[test]
fn plugins_the_settings_speak_of() {
    let check = |files: &[(&str, &str)], expect: &[&str]| {
        let found = read(files);
        let names: Vec<_> = found
            .pytest_plugins
            .iter()
            .map(|p| p.distribution.as_str())
            .collect();
        assert_eq!(names, expect, "{files:?}");
    };
    let p = |text: &'static str| ("pyproject.toml", text);
    check(
        &[p(
            "[tool.pytest.ini_options]\naddopts='-ra --cov=x --cov-report=xml -n auto'\nasyncio_mode='auto'",
        )],
        &["pytest-cov", "pytest-xdist", "pytest-asyncio"],
    );
    check(
        &[p(
            "[tool.pytest.ini_options]\naddopts=['--strict-markers', '-n4']\ntimeout=300",
        )],
        &["pytest-xdist", "pytest-timeout"],
    );
    check(
        &[p(
            "[tool.pytest.ini_options]\nrequired_plugins=['pytest-mock>=3']",
        )],
        &["pytest-mock>=3"],
    );
    check(
        &[(
            "setup.cfg",
            "[tool:pytest]\nDJANGO_SETTINGS_MODULE = x.settings\n",
        )],
        &["pytest-django"],
    );
    check(
        &[(
            "tox.ini",
            "[pytest]\naddopts =\n    --timeout=3\n    --reruns 2\n",
        )],
        &["pytest-timeout", "pytest-rerunfailures"],
    );
    // Pytest reads the first file with settings.
    check(
        &[
            ("pytest.ini", "[pytest]\ntimeout = 1\n"),
            ("tox.ini", "[pytest]\naddopts = --cov\n"),
        ],
        &["pytest-timeout"],
    );
    check(
        &[(
            "pytest.ini",
            "[pytest]\nmarkers = slow\nnorecursedirs = x\n",
        )],
        &[],
    );
}

#[test]
fn options_of_plugins() {
    let check = |option: &str, expect: Option<&str>| {
        assert_eq!(plugin_of_option(option), expect, "{option}");
    };
    check("--cov", Some("pytest-cov"));
    check("--cov-report=term", Some("pytest-cov"));
    check("-nauto", Some("pytest-xdist"));
    check("-n4", Some("pytest-xdist"));
    check("--benchmark-only", Some("pytest-benchmark"));
    check("--no-header", None);
    check("-nx", None);
    check("--", None);
    check("", None);
}

#[test]
fn tox_variables() {
    let text = "[testenv]\nsetenv =\n  A = 1\n  PYTHONPATH = x\n  PIP_FIND_LINKS = x\n  B = {toxinidir}\n  py3: C = 1\n  D=a b\n";
    let found = read(&[("tox.ini", text)]);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(found.env_vars, [pair("A", "1"), pair("D", "a b")]);
}

#[test]
fn any_input_is_read() {
    let texts = [
        "",
        "\0",
        "[",
        "=",
        "[options]\n=",
        "install_requires=",
        "install_requires='",
        "é\u{feff}",
        "[project]\nname=1",
        "[project]\noptional-dependencies=[]",
        "[dependency-groups]\ntest='a'",
        "[tool.poetry]\ndependencies=1",
        "[testenv]\ndeps = {",
        "[tool]\npytest=1",
        "  indented\n[x]\n",
        "-r",
        "-r -r",
        "\\\n\\\n",
        "setup(extras_require={'a': {'b': [[[(((",
    ];
    let paths = [
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "pytest.ini",
        "requirements.txt",
        "requirements/test.txt",
        "Pipfile",
    ];
    for text in texts {
        let all: Vec<_> = paths.iter().map(|path| (*path, text)).collect();
        read(&all);
    }
    let found = read(&[("pyproject.toml", "[project\n")]);
    assert!(
        found.unread[0].starts_with("pyproject.toml is not TOML"),
        "{:?}",
        found.unread
    );
    let files = Files::from([("setup.py".to_owned(), b"\xff\xfe setup(name='a')".to_vec())]);
    assert!(Configuration::read(&files).installable);
}
