//! Patterns that recognise findings in single lines of output.

use std::collections::BTreeSet;

use super::{Finding, SuspectedOutage};
use crate::dependencies::required_project;
use crate::environment::configuration::{plugin_of_fixture, plugin_of_marker, plugin_of_option};
use crate::environment::distribution::known_distributions;

/// The findings in a line; most lines have none.
pub(super) fn findings(line: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = import_finding(line).into_iter().collect();
    found.extend(plugins(line));
    found.extend(system_finding(line));
    found.extend(pip_finding(line));
    found.extend(project_finding(line));
    found
}

/// Messages of pip and apt about permanently failed connections.
const BROKEN: [&str; 7] = [
    "Retrying (Retry(total=0,",
    "Max retries exceeded with url",
    "Connection broken: ",
    "ERROR: HTTP error 5",
    "ERROR: HTTP error 429",
    "Temporary failure in name resolution",
    "E: Failed to fetch ",
];

/// The sign of a failed network or index in a line.
pub(super) fn suspected_outage(line: &str) -> Option<SuspectedOutage> {
    if has(line, &BROKEN) {
        let line = line.chars().take(300).collect();
        return Some(SuspectedOutage::Connection { line });
    }
    let requirement = between(line, "satisfies the requirement ", "(from versions: none)")?;
    let distribution = required_project(requirement.split(" (from").next()?)?;
    Some(SuspectedOutage::NoFiles { distribution })
}

/// The installed module that fails in this line while it is imported. `frame` is
/// the module of the innermost frame of the traceback so far.
pub(super) fn broken_module(line: &str, frame: &mut Option<String>) -> Option<String> {
    const ERRORS: [&str; 6] = [
        "AttributeError: ",
        "ImportError: cannot import name ",
        "TypeError: ",
        "SyntaxError: ",
        "NameError: ",
        "ValueError: ",
    ];
    // Python's frames, and those of pytest: `path.py:3: in <module>`.
    let is_frame = line.starts_with("File \"") || line.contains(".py:") && line.contains(": in ");
    if is_frame {
        let runs_at_import = line.ends_with("in <module>");
        *frame = runs_at_import.then(|| installed_module(line)).flatten();
        return None;
    }
    let failed = ERRORS.iter().any(|error| line.starts_with(error));
    // A circle of imports is no matter of versions.
    if !failed || line.contains("partially initialized module") {
        return None;
    }
    frame.take()
}

/// The top-level module of a path in `site-packages`.
fn installed_module(line: &str) -> Option<String> {
    let inside = line.split_once("/site-packages/")?.1;
    let top = inside.split(['/', '.', '"']).next()?;
    let is_runner = ["pytest", "_pytest", "pluggy", "importlib"].contains(&top);
    (is_dotted(top) && !is_runner).then(|| top.to_owned())
}

/// A requirement that pip, when it explains a conflict, attributes to the user.
pub(super) fn user_requirement(line: &str) -> Option<String> {
    let requirement = line.strip_prefix("The user requested ")?;
    let requirement = requirement.trim_start_matches("(constraint) ");
    required_project(requirement).map(|_| requirement.trim().to_owned())
}

fn has(line: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| line.contains(mark))
}

/// The text between two marks.
fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = line.split_once(before)?.1;
    Some(rest.split_once(after)?.0)
}

/// The word after a mark, without quotes and punctuation.
fn word_after<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let rest = line.split_once(before)?.1;
    let word = rest.split_whitespace().next()?;
    let word = word.trim_matches(['\'', '"', '`', ',', ';', ':', '(', ')']);
    (!word.is_empty()).then_some(word)
}

fn is_dotted(module: &str) -> bool {
    let is_part = |part: &str| {
        let starts = part.starts_with(|c: char| c.is_alphabetic() || c == '_');
        starts && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    module.split('.').all(is_part)
}

fn import_finding(line: &str) -> Option<Finding> {
    if let Some((file, _)) = line.split_once(": cannot open shared object file") {
        let file = file.rsplit([' ', '/', '\'', '"']).next()?.to_owned();
        return Some(Finding::MissingLibrary { file });
    }
    if let Some(name) = between(line, "cannot import name '", "'") {
        // From a partially initialised module, it is a circle of imports.
        let module = between(line, "' from '", "'")?;
        return (!line.contains("partially initialized module")).then(|| Finding::MissingName {
            name: name.into(),
            module: module.into(),
        });
    }
    if line.contains("failed to find libmagic") {
        let file = "libmagic.so.1".to_owned();
        return Some(Finding::MissingLibrary { file });
    }
    // Messages of Python, of old code in Python 2's wording, and of pytest.
    let errors = [
        "ModuleNotFoundError",
        "ImportError",
        "Error importing plugin",
    ];
    let module = word_after(line, "No module named ").filter(|_| has(line, &errors));
    if let Some(module) = module.filter(|module| is_dotted(module)) {
        let module = module.to_owned();
        return Some(Finding::MissingModule { module });
    }
    // The reason of a skipped test: `pytest.importorskip`.
    let skipped = between(line, "could not import '", "': No module named");
    if let Some(module) = skipped.filter(|module| is_dotted(module)) {
        let module = module.to_owned();
        return Some(Finding::MissingModule { module });
    }
    let distribution = named_after(
        line,
        &[
            "No package metadata was found for ",
            "PackageNotFoundError: ",
            "DistributionNotFound: The '",
        ],
    )?;
    let is_name = !["no", "the"].contains(&distribution.as_str());
    is_name.then_some(Finding::MissingDistribution { distribution })
}

/// The project after the first of these marks.
fn named_after(line: &str, marks: &[&str]) -> Option<String> {
    required_project(marks.iter().find_map(|mark| word_after(line, mark))?)
}

/// The full module of an import statement, if the missing one contains it: for
/// `import google.cloud.storage` Python reports that `google` is missing.
pub(super) fn imported(statement: &str, missing: &str) -> Option<String> {
    let is_inside = |name: &str| {
        name.strip_prefix(missing)
            .is_some_and(|r| r.starts_with('.'))
    };
    if let Some((from, names)) = statement
        .strip_prefix("from ")
        .and_then(|rest| rest.split_once(" import "))
    {
        let from = from.trim();
        let names = names
            .trim_matches(['(', ')', ' '])
            .split(',')
            .map(str::trim);
        // The imported name may be a module or a name in one; the table knows
        // some modules.
        let mut whole = names.map(|name| format!("{from}.{name}"));
        let whole = whole.find(|whole| !known_distributions(whole).is_empty());
        let found = whole.unwrap_or_else(|| from.to_owned());
        return (is_inside(&found) && is_dotted(&found)).then_some(found);
    }
    let names = statement.strip_prefix("import ")?.split(',');
    let mut names = names.filter_map(|name| name.split_whitespace().next());
    let found = names.find(|name| is_inside(name) && is_dotted(name));
    found.map(str::to_owned)
}

fn plugin(distribution: &str, used: &str) -> Finding {
    Finding::MissingPlugin {
        distribution: distribution.to_owned(),
        used: used.to_owned(),
    }
}

/// The plugins whose features pytest misses.
fn plugins(line: &str) -> Vec<Finding> {
    if let Some((_, options)) = line.split_once("error: unrecognized arguments: ") {
        let mut seen = BTreeSet::new();
        let options = options.split_whitespace();
        return options
            .filter_map(|option| Some((plugin_of_option(option)?, option)))
            .filter(|(distribution, _)| seen.insert(*distribution))
            .map(|(distribution, option)| plugin(distribution, &format!("the option {option}")))
            .collect();
    }
    if let Some((_, names)) = line.split_once("Missing required plugins: ") {
        return names
            .split([',', ' '])
            .filter(|name| required_project(name).is_some())
            .map(|name| plugin(name, "the setting required_plugins"))
            .collect();
    }
    let marker = between(line, "Unknown pytest.mark.", " ")
        .or_else(|| between(line, "'", "' not found in `markers` configuration option"));
    let found = if let Some(fixture) = between(line, "fixture '", "' not found") {
        plugin_of_fixture(fixture).map(|name| plugin(name, &format!("the fixture {fixture}")))
    } else if let Some(marker) = marker {
        plugin_of_marker(marker).map(|name| plugin(name, &format!("the marker {marker}")))
    } else {
        line.contains("async def functions are not natively supported")
            .then(|| plugin("pytest-asyncio", "asynchronous tests"))
    };
    found.into_iter().collect()
}

fn system_finding(line: &str) -> Option<Finding> {
    let command = |name: &str| Finding::MissingCommand {
        command: name.to_owned(),
    };
    if let Some(path) = between(line, "fatal error: ", ": No such file") {
        let path = path.trim().to_owned();
        return Some(Finding::MissingHeader { path });
    }
    if line.contains("unsupported locale setting") {
        return Some(Finding::NoLocale);
    }
    if has(
        line,
        &["ZoneInfoNotFoundError", "No time zone found with key"],
    ) {
        return Some(Finding::NoTimeZones);
    }
    if let Some((before, _)) = line.split_once("executable not found") {
        return before.split_whitespace().last().map(command);
    }
    // `/bin/sh: 1: git: not found`, `bash: git: command not found`.
    if let Some(rest) = line
        .strip_suffix(": not found")
        .or_else(|| line.strip_suffix(": command not found"))
    {
        let name = rest.rsplit(": ").next()?;
        let is_shell = has(line, &["sh: ", "line "]);
        return (is_shell && !name.contains(' ')).then(|| command(name));
    }
    if has(line, &["FileNotFoundError", "error: command '", "make: "]) {
        // A file name without a folder is a command.
        return between(line, "No such file or directory: '", "'")
            .filter(|name| !name.contains(['/', '.', ' ']))
            .or_else(|| between(line, "error: command '", "' failed: No such file"))
            .map(command);
    }
    if has(line, &["Cmd('git') not found", "Bad git executable"]) {
        return Some(command("git"));
    }
    let without_cargo = [
        "can't find Rust compiler",
        "Cargo, the Rust package manager, is not installed",
    ];
    if has(line, &without_cargo) {
        return Some(command("cargo"));
    }
    // Messages of pkg-config and Meson about libraries.
    let libraries = [
        ("No package '", "' found"),
        ("Dependency \"", "\" not found"),
        ("Package ", " was not found in the pkg-config search path"),
    ];
    let mut libraries = libraries.iter();
    let library = libraries.find_map(|(before, after)| between(line, before, after));
    library.map(command)
}

fn pip_finding(line: &str) -> Option<Finding> {
    if let Some((_, requirement)) = line.split_once("No matching distribution found for ") {
        let requirement = requirement.split(" (from").next()?.trim().to_owned();
        return Some(Finding::NoVersion { requirement });
    }
    let without_times = " does not provide upload-time metadata";
    if let Some(index) = between(line, "ERROR: Index ", without_times) {
        let index = index.to_owned();
        return Some(Finding::NoUploadTimes { index });
    }
    if line.contains("ResolutionImpossible") {
        let requirements = Vec::new();
        return Some(Finding::Conflict { requirements });
    }
    let distribution = named_after(
        line,
        &[
            "Failed building wheel for ",
            "Failed to build '",
            "error: failed to build `",
        ],
    )?;
    Some(Finding::NotBuilt { distribution })
}

fn project_finding(line: &str) -> Option<Finding> {
    // Docker repeats the command of a failed step, which is not its output.
    if line.contains("returned a non-zero code") {
        let is_wheel = line.contains("pip wheel --no-deps");
        return is_wheel.then_some(Finding::ProjectNotBuilt);
    }
    if line.starts_with("Step ") {
        return None;
    }
    if let Some((_, wheel)) = line.split_once("swe-ci: the project's wheel is compiled: ") {
        let wheel = wheel.trim().to_owned();
        return (!wheel.starts_with('$')).then_some(Finding::Compiled { wheel });
    }
    let without_tags = [
        "setuptools-scm was unable to detect version",
        "setuptools_scm was unable to detect version",
        "unable to detect version for",
        "Versioning for this project requires either an sdist tarball, or access to an upstream git repository",
        "unable to extract the version from the version control",
        "Unable to detect version control system",
    ];
    has(line, &without_tags).then_some(Finding::NoVersionOfProject)
}
