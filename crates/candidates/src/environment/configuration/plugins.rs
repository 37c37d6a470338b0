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

/// A line for each distribution, followed by its options.
const OPTIONS: &str = "
    pytest-asyncio --asyncio-mode
    pytest-benchmark --benchmark
    pytest-black --black
    pytest-cov --cov --no-cov
    pytest-django --create-db --reuse-db --nomigrations --no-migrations --ds
    pytest-xdist --dist -n --numprocesses --maxprocesses
    pytest-flake8 --flake8
    pytest-forked --forked --boxed
    pytest-html --html --self-contained-html
    pytest-isort --isort
    pytest-mypy --mypy
    pytest-mypy-plugins --mypy-ini-file
    nbval --nbval
    pytest-random-order --random-order
    pytest-randomly --randomly
    pytest-recording --record-mode --block-network
    pytest-rerunfailures --reruns
    pytest-ruff --ruff
    syrupy --snapshot
    pytest-socket --disable-socket --allow-hosts
    pytest-timeout --timeout --session-timeout
    pytest-doctestplus --doctest-plus --doctest-rst
    pytest-remotedata --remote-data
    pytest-mpl --mpl
    pytest-pylint --pylint
    pytest-spec --spec
    pytest-split --splits
    pytest-testmon --testmon
    pytest-sugar --force-sugar
    inline-snapshot --inline-snapshot
";

/// The same with fixtures.
const FIXTURES: &str = "
    aioresponses aioresponses
    pytest-aiohttp aiohttp_client aiohttp_server
    pytest-benchmark benchmark
    betamax betamax_session
    pytest-celery celery_app
    pytest-django admin_client django_user_model django_assert_num_queries transactional_db rf
    pytest-cov cov
    pytest-regressions data_regression file_regression num_regression image_regression
    pytest-datadir datadir shared_datadir
    pytest-asyncio event_loop unused_tcp_port
    Faker faker
    pytest-subprocess fake_process fp
    pytest-freezer freezer
    pyfakefs fs
    pytest-httpbin httpbin
    pytest-httpserver httpserver
    pytest-httpx httpx_mock
    pytest-jupyter jp_fetch
    pytest-loguru loguru_caplog
    pytest-mock mocker class_mocker module_mocker session_mocker
    pytest-mongodb mongodb
    pytest-trio nursery autojump_clock
    pytest-postgresql postgresql
    pytest-qt qtbot
    requests-mock requests_mock
    respx respx_mock
    pytest-console-scripts script_runner
    syrupy snapshot
    pytest-subtests subtests
    time-machine time_machine
    pytest-mypy-plugins tmp_mypy
    pytest-vcr vcr vcr_cassette
    pytest-virtualenv virtualenv
    pytest-xprocess xprocess
";

/// The same with markers.
const MARKERS: &str = "
    anyio anyio
    pytest-asyncio asyncio
    pytest-benchmark benchmark
    pytest-dependency dependency
    pytest-django django_db
    pytest-rerunfailures flaky
    pytest-forked forked
    pytest-freezer freeze_time
    pytest-order order
    pytest-ordering run
    pytest-timeout timeout
    pytest-trio trio
    pytest-recording vcr
    pytest-xdist xdist_group
";

/// The same with settings (`key = …`); `*` matches any ending.
const SETTINGS: &str = "
    pytest-asyncio asyncio_*
    anyio anyio_mode
    pytest-trio trio_mode
    pytest-timeout timeout timeout_method
    pytest-django DJANGO_SETTINGS_MODULE django_find_project
    pytest-env env
    pytest-dotenv env_files
    pytest-flake8 flake8_max_line_length
    pytest-mock mock_use_standalone_module
    pytest-mpl mpl_*
    pytest-qt qt_api
    pytest-rerunfailures reruns
    pytest-doctestplus doctest_plus
    pytest-remotedata remote_data_strict
";

fn find(table: &'static str, fits: impl Fn(&str) -> bool) -> Option<&'static str> {
    table.lines().find_map(|line| {
        let (distribution, names) = line.trim().split_once(' ')?;
        names.split(' ').any(&fits).then_some(distribution)
    })
}

/// The distribution that provides an option such as `--cov=src`, `--cov-report`
/// or `-n4`.
pub fn plugin_of_option(option: &str) -> Option<&'static str> {
    let name = option.split('=').next().unwrap_or_default();
    let is_count = |rest: &str| rest == "auto" || rest.chars().all(|c| c.is_ascii_digit());
    if name.strip_prefix("-n").is_some_and(is_count) {
        return find(OPTIONS, |name| name == "-n");
    }
    // The longest known prefix: `--cov-report` belongs to `--cov`.
    let mut head = name;
    loop {
        match (find(OPTIONS, |name| name == head), head.rsplit_once('-')) {
            (Some(found), _) => return Some(found),
            (None, Some((shorter, _))) if shorter.len() > 2 => head = shorter,
            _ => return None,
        }
    }
}

/// The distribution that provides a fixture.
pub fn plugin_of_fixture(fixture: &str) -> Option<&'static str> {
    find(FIXTURES, |name| name == fixture)
}

/// The distribution that provides a marker.
pub fn plugin_of_marker(marker: &str) -> Option<&'static str> {
    find(MARKERS, |name| name == marker)
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
            if let Some(distribution) = find(SETTINGS, fits) {
                add(distribution, format!("{path} has the setting {key}"));
            }
        }
    }
}
