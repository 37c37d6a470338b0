//! Recognises pytest plugins by their options, settings, fixtures and markers.

use serde::{Deserialize, Serialize};

use super::{Configuration, Files};
use crate::dependencies::required_project;
use crate::environment::project_files::text;
use crate::ini::entries;
use crate::toml_values::{self, at, strings, table};

/// A distribution, and the evidence that the tests need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugin {
    pub distribution: String,
    pub reason: String,
}

const OPTIONS: &[(&str, &str)] = &[
    ("--asyncio-mode", "pytest-asyncio"),
    ("--benchmark", "pytest-benchmark"),
    ("--black", "pytest-black"),
    ("--cov", "pytest-cov"),
    ("--no-cov", "pytest-cov"),
    ("--create-db", "pytest-django"),
    ("--reuse-db", "pytest-django"),
    ("--nomigrations", "pytest-django"),
    ("--no-migrations", "pytest-django"),
    ("--ds", "pytest-django"),
    ("--dist", "pytest-xdist"),
    ("-n", "pytest-xdist"),
    ("--numprocesses", "pytest-xdist"),
    ("--maxprocesses", "pytest-xdist"),
    ("--flake8", "pytest-flake8"),
    ("--forked", "pytest-forked"),
    ("--boxed", "pytest-forked"),
    ("--html", "pytest-html"),
    ("--self-contained-html", "pytest-html"),
    ("--isort", "pytest-isort"),
    ("--mypy", "pytest-mypy"),
    ("--mypy-ini-file", "pytest-mypy-plugins"),
    ("--nbval", "nbval"),
    ("--random-order", "pytest-random-order"),
    ("--randomly", "pytest-randomly"),
    ("--record-mode", "pytest-recording"),
    ("--block-network", "pytest-recording"),
    ("--reruns", "pytest-rerunfailures"),
    ("--ruff", "pytest-ruff"),
    ("--snapshot", "syrupy"),
    ("--disable-socket", "pytest-socket"),
    ("--allow-hosts", "pytest-socket"),
    ("--timeout", "pytest-timeout"),
    ("--session-timeout", "pytest-timeout"),
    ("--doctest-plus", "pytest-doctestplus"),
    ("--doctest-rst", "pytest-doctestplus"),
    ("--remote-data", "pytest-remotedata"),
    ("--mpl", "pytest-mpl"),
    ("--pylint", "pytest-pylint"),
    ("--spec", "pytest-spec"),
    ("--splits", "pytest-split"),
    ("--testmon", "pytest-testmon"),
    ("--force-sugar", "pytest-sugar"),
    ("--inline-snapshot", "inline-snapshot"),
];

const FIXTURES: &[(&str, &str)] = &[
    ("aioresponses", "aioresponses"),
    ("aiohttp_client", "pytest-aiohttp"),
    ("aiohttp_server", "pytest-aiohttp"),
    ("benchmark", "pytest-benchmark"),
    ("betamax_session", "betamax"),
    ("celery_app", "pytest-celery"),
    ("admin_client", "pytest-django"),
    ("django_user_model", "pytest-django"),
    ("django_assert_num_queries", "pytest-django"),
    ("transactional_db", "pytest-django"),
    ("rf", "pytest-django"),
    ("cov", "pytest-cov"),
    ("data_regression", "pytest-regressions"),
    ("file_regression", "pytest-regressions"),
    ("num_regression", "pytest-regressions"),
    ("datadir", "pytest-datadir"),
    ("shared_datadir", "pytest-datadir"),
    ("event_loop", "pytest-asyncio"),
    ("unused_tcp_port", "pytest-asyncio"),
    ("faker", "Faker"),
    ("fake_process", "pytest-subprocess"),
    ("fp", "pytest-subprocess"),
    ("freezer", "pytest-freezer"),
    ("fs", "pyfakefs"),
    ("httpbin", "pytest-httpbin"),
    ("httpserver", "pytest-httpserver"),
    ("httpx_mock", "pytest-httpx"),
    ("image_regression", "pytest-regressions"),
    ("jp_fetch", "pytest-jupyter"),
    ("loguru_caplog", "pytest-loguru"),
    ("mocker", "pytest-mock"),
    ("class_mocker", "pytest-mock"),
    ("module_mocker", "pytest-mock"),
    ("session_mocker", "pytest-mock"),
    ("mongodb", "pytest-mongodb"),
    ("nursery", "pytest-trio"),
    ("autojump_clock", "pytest-trio"),
    ("postgresql", "pytest-postgresql"),
    ("qtbot", "pytest-qt"),
    ("requests_mock", "requests-mock"),
    ("respx_mock", "respx"),
    ("script_runner", "pytest-console-scripts"),
    ("snapshot", "syrupy"),
    ("subtests", "pytest-subtests"),
    ("time_machine", "time-machine"),
    ("tmp_mypy", "pytest-mypy-plugins"),
    ("vcr", "pytest-vcr"),
    ("vcr_cassette", "pytest-vcr"),
    ("virtualenv", "pytest-virtualenv"),
    ("xprocess", "pytest-xprocess"),
];

const MARKERS: &[(&str, &str)] = &[
    ("anyio", "anyio"),
    ("asyncio", "pytest-asyncio"),
    ("benchmark", "pytest-benchmark"),
    ("dependency", "pytest-dependency"),
    ("django_db", "pytest-django"),
    ("flaky", "pytest-rerunfailures"),
    ("forked", "pytest-forked"),
    ("freeze_time", "pytest-freezer"),
    ("order", "pytest-order"),
    ("run", "pytest-ordering"),
    ("timeout", "pytest-timeout"),
    ("trio", "pytest-trio"),
    ("vcr", "pytest-recording"),
    ("xdist_group", "pytest-xdist"),
];

/// Settings (`key = …`) and their plugins; `*` matches any ending.
const SETTINGS: &[(&str, &str)] = &[
    ("asyncio_*", "pytest-asyncio"),
    ("anyio_mode", "anyio"),
    ("trio_mode", "pytest-trio"),
    ("timeout", "pytest-timeout"),
    ("timeout_method", "pytest-timeout"),
    ("DJANGO_SETTINGS_MODULE", "pytest-django"),
    ("django_find_project", "pytest-django"),
    ("env", "pytest-env"),
    ("env_files", "pytest-dotenv"),
    ("flake8_max_line_length", "pytest-flake8"),
    ("mock_use_standalone_module", "pytest-mock"),
    ("mpl_*", "pytest-mpl"),
    ("qt_api", "pytest-qt"),
    ("reruns", "pytest-rerunfailures"),
    ("doctest_plus", "pytest-doctestplus"),
    ("remote_data_strict", "pytest-remotedata"),
];

fn find(table: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    let found = table.iter().find(|(key, _)| *key == name);
    found.map(|(_, distribution)| *distribution)
}

/// The distribution that provides an option such as `--cov=src`, `--cov-report`
/// or `-n4`.
#[must_use]
pub fn plugin_of_option(option: &str) -> Option<&'static str> {
    let name = option.split('=').next().unwrap_or_default();
    let is_count = |rest: &str| rest == "auto" || rest.chars().all(|c| c.is_ascii_digit());
    if name.strip_prefix("-n").is_some_and(is_count) {
        return find(OPTIONS, "-n");
    }
    // The longest known prefix: `--cov-report` belongs to `--cov`.
    let mut head = name;
    loop {
        match (find(OPTIONS, head), head.rsplit_once('-')) {
            (Some(found), _) => return Some(found),
            (None, Some((shorter, _))) if shorter.len() > 2 => head = shorter,
            _ => return None,
        }
    }
}

/// The distribution that provides a fixture.
#[must_use]
pub fn plugin_of_fixture(fixture: &str) -> Option<&'static str> {
    find(FIXTURES, fixture)
}

/// The distribution that provides a marker.
#[must_use]
pub fn plugin_of_marker(marker: &str) -> Option<&'static str> {
    find(MARKERS, marker)
}

/// Reads pytest's settings from the first file that has any, as pytest does.
pub(super) fn read(files: &Files, read: &mut Configuration) {
    const PLACES: [(&str, &str); 5] = [
        ("pytest.ini", "pytest"),
        (".pytest.ini", "pytest"),
        ("pyproject.toml", ""),
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    ];
    for (path, section) in PLACES {
        let Some(text) = text(files, path) else {
            continue;
        };
        let settings = match path {
            "pyproject.toml" => pyproject_settings(&text),
            _ => entries(&text)
                .into_iter()
                .filter(|entry| entry.section == section)
                .map(|entry| (entry.key, entry.lines.join(" ")))
                .collect(),
        };
        for (key, value) in &settings {
            add_plugins(path, key, value, read);
        }
        if !settings.is_empty() {
            return;
        }
    }
}

fn pyproject_settings(text: &str) -> Vec<(String, String)> {
    let Ok(file) = toml_values::parsed(text) else {
        return Vec::new();
    };
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(_) => strings(Some(value)).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    };
    table(at(&file, "tool.pytest.ini_options"))
        .map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

fn add_plugins(path: &str, key: &str, value: &str, read: &mut Configuration) {
    let mut add = |distribution: &str, reason: String| {
        let project = required_project(distribution);
        let mut known = read.pytest_plugins.iter();
        if !known.any(|p| required_project(&p.distribution) == project) {
            read.pytest_plugins.push(Plugin {
                distribution: distribution.to_owned(),
                reason,
            });
        }
    };
    match key {
        "required_plugins" => {
            for plugin in value.split_whitespace() {
                add(plugin, format!("{path} requires the plugin"));
            }
        }
        "addopts" => {
            let words = value.split_whitespace();
            for option in words.filter(|word| word.starts_with('-')) {
                if let Some(distribution) = plugin_of_option(option) {
                    add(distribution, format!("{path} has the option {option}"));
                }
            }
        }
        key => {
            let fits = |name: &str| match name.strip_suffix('*') {
                Some(head) => key.starts_with(head),
                None => key == name,
            };
            if let Some((_, distribution)) = SETTINGS.iter().find(|(name, _)| fits(name)) {
                add(distribution, format!("{path} has the setting {key}"));
            }
        }
    }
}
