//! Tests the findings in the output of builds and tests.

use super::*;

fn own() -> BTreeSet<String> {
    BTreeSet::from(["mine".to_owned(), "tests".to_owned()])
}

/// Each finding as a short text: its kind and its fields.
fn described(output: &str) -> Vec<String> {
    let short = |finding: &Finding| {
        let json = serde_json::to_value(finding).unwrap();
        let fields = json
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, _)| *key != "what");
        let values: Vec<_> = fields
            .map(|(_, value)| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .collect();
        format!("{} {}", json["what"].as_str().unwrap(), values.join(" "))
            .trim()
            .to_owned()
    };
    diagnose(output, &own()).iter().map(short).collect()
}

fn check(output: &str, expect: &[&str]) {
    assert_eq!(described(output), expect, "{output}");
}

#[test]
fn modules_that_are_missing() {
    check(
        "ImportError while importing test module '/app/code/tests/test_a.py'.\n\
         Hint: make sure your test modules/packages have valid Python names.\n\
         Traceback:\n/usr/lib/python3.11/importlib/__init__.py:126: in import_module\n\
         tests/test_a.py:3: in <module>\n    import freezegun\nE   ModuleNotFoundError: No module named 'freezegun'",
        &["missing_module freezegun"],
    );
    check(
        "\u{1b}[1m\u{1b}[31mE   ModuleNotFoundError: No module named 'google.cloud'\u{1b}[0m",
        &["missing_module google.cloud"],
    );
    check(
        "ModuleNotFoundError: No module named 'six.moves'; 'six' is not a package",
        &["missing_module six.moves"],
    );
    check(
        "ImportError: No module named mock",
        &["missing_module mock"],
    );
    check(
        "ImportError: Error importing plugin \"pytest_cov\": No module named 'pytest_cov'",
        &["missing_module pytest_cov"],
    );
    check(
        "ImportError while loading conftest '/app/code/tests/conftest.py'.\nE   ModuleNotFoundError: No module named 'yaml'",
        &["missing_module yaml"],
    );
    check(
        "E   ModuleNotFoundError: No module named 'mine._version'",
        &["own_module mine._version"],
    );
    check(
        "E   ModuleNotFoundError: No module named 'tests.helpers'",
        &["own_module tests.helpers"],
    );
    check(
        "E  ModuleNotFoundError: No module named 'a'\nE  ModuleNotFoundError: No module named 'a'",
        &["missing_module a"],
    );
    // Python names the first missing part; the statement has the whole name.
    check(
        "    import os, jaraco.functools as f\nE   ModuleNotFoundError: No module named 'jaraco'",
        &["missing_module jaraco.functools"],
    );
    check(
        "    from google.cloud import storage\nE   ModuleNotFoundError: No module named 'google'",
        &["missing_module google.cloud.storage"],
    );
    check(
        "    from zope.thing import A, b\nE   ModuleNotFoundError: No module named 'zope'",
        &["missing_module zope.thing"],
    );
    check(
        "    from other.thing import A\nE   ModuleNotFoundError: No module named 'yaml'",
        &["missing_module yaml"],
    );
    // Mere mentions are not findings.
    check("No module named 'x' is a message people see", &[]);
    check("/usr/bin/python: No module named pytest", &[]);
}

#[test]
fn names_and_metadata_that_are_missing() {
    check(
        "E   ImportError: cannot import name 'url_quote' from 'werkzeug.urls' (/opt/venv/lib/python3.11/site-packages/werkzeug/urls.py)",
        &["missing_name werkzeug.urls url_quote"],
    );
    check(
        "E   ImportError: cannot import name 'a' from partially initialized module 'mine.b' (most likely due to a circular import) (/app/code/mine/b.py)",
        &[],
    );
    check(
        "importlib.metadata.PackageNotFoundError: No package metadata was found for typed-thing",
        &["missing_distribution typed-thing"],
    );
    check(
        "importlib.metadata.PackageNotFoundError: typed-thing",
        &["missing_distribution typed-thing"],
    );
    check(
        "pkg_resources.DistributionNotFound: The 'Mock>=1' distribution was not found and is required by the application",
        &["missing_distribution mock"],
    );
}

#[test]
fn missing_plugins() {
    check(
        "ERROR: usage: pytest [options] [file_or_dir]\n__main__.py: error: unrecognized arguments: --cov=mine --cov-report=xml -n auto --strange",
        &[
            "missing_plugin pytest-cov the option --cov=mine",
            "missing_plugin pytest-xdist the option -n",
        ],
    );
    check(
        "E       fixture 'mocker' not found",
        &["missing_plugin pytest-mock the fixture mocker"],
    );
    check(
        "E       fixture 'httpx_mock' not found",
        &["missing_plugin pytest-httpx the fixture httpx_mock"],
    );
    check(
        "E       fixture 'requests_mock' not found",
        &["missing_plugin requests-mock the fixture requests_mock"],
    );
    check(
        "E       fixture 'freezer' not found",
        &["missing_plugin pytest-freezer the fixture freezer"],
    );
    check("E       fixture 'of_their_own' not found", &[]);
    check(
        "tests/test_a.py:4: PytestUnknownMarkWarning: Unknown pytest.mark.asyncio - is this a typo?  You can register custom marks",
        &["missing_plugin pytest-asyncio the marker asyncio"],
    );
    check(
        "'django_db' not found in `markers` configuration option",
        &["missing_plugin pytest-django the marker django_db"],
    );
    check("Unknown pytest.mark.slow - is this a typo?", &[]);
    check(
        "async def functions are not natively supported.",
        &["missing_plugin pytest-asyncio asynchronous tests"],
    );
    check(
        "ERROR: Missing required plugins: pytest-env, pytest-mock>=3",
        &[
            "missing_plugin pytest-env the setting required_plugins",
            "missing_plugin pytest-mock>=3 the setting required_plugins",
        ],
    );
    check(
        "PytestConfigWarning: Unknown config option: asyncio_mode",
        &[],
    );
}

#[test]
fn missing_system_packages() {
    check(
        "E   ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        &["missing_library libGL.so.1"],
    );
    check(
        "OSError: cannot load library 'libsndfile.so': libsndfile.so: cannot open shared object file: No such file or directory",
        &["missing_library libsndfile.so"],
    );
    check(
        "ImportError: failed to find libmagic.  Check your installation",
        &["missing_library libmagic.so.1"],
    );
    check(
        "  src/lxml/etree.c:289:10: fatal error: libxml/xmlversion.h: No such file or directory",
        &["missing_header libxml/xmlversion.h"],
    );
    check("/bin/sh: 1: git: not found", &["missing_command git"]);
    check(
        "bash: line 1: make: command not found",
        &["missing_command make"],
    );
    check(
        "E   FileNotFoundError: [Errno 2] No such file or directory: 'git'",
        &["missing_command git"],
    );
    check(
        "E   FileNotFoundError: [Errno 2] No such file or directory: 'data.json'",
        &[],
    );
    check(
        "E   FileNotFoundError: [Errno 2] No such file or directory: '/app/code/x'",
        &[],
    );
    check(
        "      Error: pg_config executable not found.",
        &["missing_command pg_config"],
    );
    check(
        "      error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory",
        &["missing_command x86_64-linux-gnu-gcc"],
    );
    check(
        "      error: command '/usr/bin/gcc' failed with exit code 1",
        &[],
    );
    check(
        "Package cairo was not found in the pkg-config search path.",
        &["missing_command cairo"],
    );
    check(
        "../cairo/meson.build:31:12: ERROR: Dependency \"cairo\" not found, tried pkgconfig and cmake",
        &["missing_command cairo"],
    );
    check(
        "git.exc.GitCommandNotFound: Cmd('git') not found due to: FileNotFoundError('[Errno 2] No such file or directory: 'git'')",
        &["missing_command git"],
    );
    check(
        "E   locale.Error: unsupported locale setting",
        &["no_locale"],
    );
    check(
        "E   zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Berlin'",
        &["no_time_zones"],
    );
    check("E   fixture 'x' was: not found", &[]);
}

#[test]
fn why_an_image_was_not_built() {
    check(
        "ERROR: Could not find a version that satisfies the requirement strange==9 (from mine[test]) (from versions: 1.0)\n\
         ERROR: No matching distribution found for strange==9 (from mine[test])",
        &["no_version strange==9"],
    );
    check(
        "  ERROR: Failed building wheel for psycopg2",
        &["not_built psycopg2"],
    );
    check(
        "error: failed-wheel-build-for-install\nFailed to build 'mysqlclient' when installing build dependencies",
        &["not_built mysqlclient"],
    );
    check(
        "ERROR: Cannot install a==1 and b because these package versions have conflicting dependencies.\n\
         The conflict is caused by:\n    The user requested a==1\n    b 2 depends on a>=2\n\
         ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/",
        &["conflict [\"a==1\"]"],
    );
    check(
        "LookupError: setuptools-scm was unable to detect version for /tmp/build.\nMake sure you're either building from a fully intact git repository",
        &["no_version_of_project"],
    );
    check(
        "The command '/bin/sh -c export A=1; /opt/tools/bin/pip wheel --no-deps -w /tmp/wheel /tmp/build' returned a non-zero code: 1",
        &["project_not_built"],
    );
    check(
        "swe-ci: the project's wheel is compiled: mine-1-cp311-cp311-linux_x86_64.whl",
        &["compiled mine-1-cp311-cp311-linux_x86_64.whl"],
    );
    check(
        "ERROR: Index http://mirror/simple/a/ does not provide upload-time metadata.",
        &["no_upload_times http://mirror/simple/a/"],
    );
    // Docker repeats the command, which is not its output.
    check(
        "Step 5/9 : RUN case x in *) echo \"swe-ci: the project's wheel is compiled: $(ls /tmp/wheel)\"",
        &[],
    );
    check("", &[]);
    check("\u{1b}", &[]);
}

#[test]
fn modules_of_a_tree() {
    let paths = [
        "mine/__init__.py",
        "src/other/a.py",
        "single.py",
        "setup.py",
        "tests/helpers.py",
        "docs/conf.py",
        "data/x.json",
    ];
    let own: Vec<_> = own_modules(paths).into_iter().collect();
    assert_eq!(own, ["helpers", "mine", "other", "single", "tests"]);
}

#[test]
fn suspected_outages() {
    let check = |output: &str, expect: Option<&str>| {
        let described =
            suspected_outage(output).map(|suspected_outage| suspected_outage.to_string());
        assert_eq!(described.as_deref(), expect, "{output}");
    };
    let tries = |left: u32| {
        format!(
            "WARNING: Retrying (Retry(total={left}, connect=None, read=None, redirect=None, status=None)) \
             after connection broken by 'ReadTimeoutError(\"Read timed out.\")': /simple/six/"
        )
    };
    check(&tries(1), None);
    check(&format!("{}\n{}", tries(1), tries(0)), Some(&tries(0)));
    check(
        "Traceback:\npip._vendor.requests.exceptions.ChunkedEncodingError: ('Connection broken: IncompleteRead(1 bytes read)')",
        Some(
            "pip._vendor.requests.exceptions.ChunkedEncodingError: ('Connection broken: IncompleteRead(1 bytes read)')",
        ),
    );
    check(
        "\u{1b}[91mERROR: Could not find a version that satisfies the requirement setuptools>=40.8.0 (from versions: none)\u{1b}[0m",
        Some("the package index listed no file of setuptools"),
    );
    check(
        "ERROR: Could not find a version that satisfies the requirement strange[x]==9 (from mine[test]) (from versions: none)",
        Some("the package index listed no file of strange"),
    );
    check(
        "ERROR: Could not find a version that satisfies the requirement strange==9 (from versions: 1.0)",
        None,
    );
    check("error: command 'gcc' failed: No such file", None);
}

#[test]
fn the_last_error_is_told() {
    let check = |output: &str, expect: Option<&str>| {
        assert_eq!(last_error(output).as_deref(), expect, "{output}");
    };
    check("", None);
    check("a\nb\n\n", Some("b"));
    check(
        "\u{1b}[91m  error: subprocess-exited-with-error\u{1b}[0m\n  note: not pip's\nERROR: Failed to build mine\nnotice",
        Some("ERROR: Failed to build mine"),
    );
}

#[test]
fn installed_modules_that_cannot_be_imported() {
    let site = "/opt/venv/lib/python3.11/site-packages";
    check(
        &format!(
            "tests/test_a.py:3: in <module>\n    import hypothesis\n\
             {site}/hypothesis/__init__.py:5: in <module>\n    from . import core\n\
             E   AttributeError: module 'inspect' has no attribute 'getargspec'"
        ),
        &["broken_module hypothesis"],
    );
    check(
        &format!(
            "Traceback (most recent call last):\n  File \"/opt/venv/bin/x\", line 1, in <module>\n\
             File \"{site}/old/six.py\", line 3, in <module>\n    collections.Mapping\n\
             AttributeError: module 'collections' has no attribute 'Mapping'"
        ),
        &["broken_module old"],
    );
    // The failing line is in a test, in a function, in the runner, or in no
    // version's power.
    for frame in [
        "tests/test_a.py:3: in <module>".to_owned(),
        format!("{site}/hypothesis/core.py:5: in given"),
        format!("{site}/_pytest/python.py:5: in <module>"),
    ] {
        check(&format!("{frame}\nE   TypeError: 'x' is no function"), &[]);
    }
    let own = format!("{site}/mine/a.py:5: in <module>\nE   TypeError: no");
    check(&own, &[]);
}

#[test]
fn skipped_tests_name_modules() {
    check(
        "('/app/code/tests/test_a.py', 3, \"Skipped: could not import 'numpy': No module named 'numpy'\")",
        &["missing_module numpy"],
    );
}
