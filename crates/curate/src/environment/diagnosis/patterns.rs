//! Patterns that recognise findings in single lines of output.

use super::{Finding, SuspectedOutage};
use crate::dependencies::{project_name, required_project};
use crate::environment::configuration::{plugin_of_fixture, plugin_of_marker, plugin_of_option};
use crate::environment::distribution::known_distributions;

/// The findings in a line; most lines have none.
pub(super) fn findings(line: &str) -> Vec<Finding> {
    let readers: [fn(&str) -> Vec<Finding>; 5] = [
        imports_findings,
        pytest_findings,
        system_findings,
        pip_findings,
        project_findings,
    ];
    readers.iter().flat_map(|read| read(line)).collect()
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
    if BROKEN.iter().any(|mark| line.contains(mark)) {
        let line = line.chars().take(300).collect();
        return Some(SuspectedOutage::Connection { line });
    }
    let requirement = between(line, "satisfies the requirement ", "(from versions: none)")?;
    let distribution = required_project(requirement.split(" (from").next()?)?;
    Some(SuspectedOutage::NoFiles { distribution })
}

/// A requirement that pip, when it explains a conflict, attributes to the user.
pub(super) fn user_requirement(line: &str) -> Option<String> {
    let requirement = line.strip_prefix("The user requested ")?;
    let requirement = requirement.trim_start_matches("(constraint) ");
    required_project(requirement).map(|_| requirement.trim().to_owned())
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

fn imports_findings(line: &str) -> Vec<Finding> {
    if let Some(file) = line.split(": cannot open shared object file").next()
        && file.len() < line.len()
    {
        let file = file.rsplit([' ', '/', '\'', '"']).next().unwrap_or(file);
        return vec![Finding::MissingLibrary {
            file: file.to_owned(),
        }];
    }
    if let Some(name) = between(line, "cannot import name '", "'") {
        let module = between(line, "' from '", "'")
            .or_else(|| between(line, "' from partially initialized module '", "'"));
        let is_circle = line.contains("partially initialized module");
        return match module.filter(|_| !is_circle) {
            Some(module) => vec![Finding::MissingName {
                name: name.into(),
                module: module.into(),
            }],
            None => Vec::new(),
        };
    }
    if line.contains("failed to find libmagic") {
        return vec![Finding::MissingLibrary {
            file: "libmagic.so.1".into(),
        }];
    }
    // Messages of Python, of old code in Python 2's wording, and of pytest.
    let is_error = line.contains("ModuleNotFoundError")
        || line.contains("ImportError")
        || line.contains("Error importing plugin");
    let module = word_after(line, "No module named ").filter(|_| is_error);
    if let Some(module) = module.filter(|module| is_dotted(module)) {
        return vec![Finding::MissingModule {
            module: module.to_owned(),
        }];
    }
    let marks = [
        "No package metadata was found for ",
        "PackageNotFoundError: ",
        "DistributionNotFound: The '",
    ];
    let name = marks.iter().find_map(|mark| word_after(line, mark));
    match name.and_then(required_project) {
        Some(distribution) if !["no", "the"].contains(&distribution.as_str()) => {
            vec![Finding::MissingDistribution { distribution }]
        }
        _ => Vec::new(),
    }
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

fn pytest_findings(line: &str) -> Vec<Finding> {
    if let Some((_, options)) = line.split_once("error: unrecognized arguments: ") {
        let options = options.split_whitespace();
        let known = options.filter_map(|option| Some((plugin_of_option(option)?, option)));
        let mut found: Vec<Finding> = Vec::new();
        for (distribution, option) in known {
            let is_new = |f: &Finding| !matches!(f, Finding::MissingPlugin { distribution: d, .. } if d == distribution);
            if found.iter().all(is_new) {
                found.push(plugin(distribution, &format!("the option {option}")));
            }
        }
        return found;
    }
    if let Some(fixture) = between(line, "fixture '", "' not found") {
        let known = plugin_of_fixture(fixture);
        return known
            .map(|d| plugin(d, &format!("the fixture {fixture}")))
            .into_iter()
            .collect();
    }
    let marker = between(line, "Unknown pytest.mark.", " ")
        .or_else(|| between(line, "'", "' not found in `markers` configuration option"));
    if let Some(marker) = marker {
        let known = plugin_of_marker(marker);
        return known
            .map(|d| plugin(d, &format!("the marker {marker}")))
            .into_iter()
            .collect();
    }
    if line.contains("async def functions are not natively supported") {
        return vec![plugin("pytest-asyncio", "asynchronous tests")];
    }
    if let Some((_, names)) = line.split_once("Missing required plugins: ") {
        let names = names
            .split([',', ' '])
            .filter(|name| required_project(name).is_some());
        return names
            .map(|name| plugin(name, "the setting required_plugins"))
            .collect();
    }
    Vec::new()
}

fn system_findings(line: &str) -> Vec<Finding> {
    let command = |name: &str| {
        vec![Finding::MissingCommand {
            command: name.to_owned(),
        }]
    };
    if let Some(path) = line.split_once("fatal error: ").map(|(_, rest)| rest)
        && let Some(path) = path
            .strip_suffix(": No such file or directory")
            .or_else(|| path.split_once(": No such file").map(|(p, _)| p))
    {
        return vec![Finding::MissingHeader {
            path: path.trim().to_owned(),
        }];
    }
    if line.contains("unsupported locale setting") {
        return vec![Finding::NoLocale];
    }
    if line.contains("ZoneInfoNotFoundError") || line.contains("No time zone found with key") {
        return vec![Finding::NoTimeZones];
    }
    if line.contains("executable not found") {
        let name = line
            .split(" executable not found")
            .next()
            .and_then(|rest| rest.split_whitespace().last());
        return name.map(command).unwrap_or_default();
    }
    // `/bin/sh: 1: git: not found`, `bash: git: command not found`.
    if let Some(rest) = line
        .strip_suffix(": not found")
        .or_else(|| line.strip_suffix(": command not found"))
    {
        let name = rest.rsplit(": ").next().unwrap_or(rest);
        let is_shell = line.contains("sh: ") || line.contains("line ");
        return match is_shell && !name.contains(' ') {
            true => command(name),
            false => Vec::new(),
        };
    }
    // A file name without a folder is a command.
    if line.contains("FileNotFoundError")
        || line.contains("error: command '")
        || line.contains("make: ")
    {
        let run = between(line, "No such file or directory: '", "'");
        let run = run.filter(|name| !name.contains(['/', '.', ' ']));
        let compiler = between(line, "error: command '", "' failed: No such file");
        return run.or(compiler).map(command).unwrap_or_default();
    }
    if line.contains("Cmd('git') not found") || line.contains("Bad git executable") {
        return command("git");
    }
    if line.contains("can't find Rust compiler")
        || line.contains("Cargo, the Rust package manager, is not installed")
    {
        return command("cargo");
    }
    // Messages of pkg-config and Meson about libraries.
    let library = between(line, "No package '", "' found")
        .or_else(|| between(line, "Dependency \"", "\" not found"))
        .or_else(|| {
            between(
                line,
                "Package ",
                " was not found in the pkg-config search path",
            )
        });
    library.map(command).unwrap_or_default()
}

fn pip_findings(line: &str) -> Vec<Finding> {
    if let Some((_, requirement)) = line.split_once("No matching distribution found for ") {
        let requirement = requirement.split(" (from").next().unwrap_or(requirement);
        return vec![Finding::NoVersion {
            requirement: requirement.trim().to_owned(),
        }];
    }
    if let Some(index) = between(
        line,
        "ERROR: Index ",
        " does not provide upload-time metadata",
    ) {
        let index = index.to_owned();
        return vec![Finding::NoUploadTimes { index }];
    }
    if line.contains("ResolutionImpossible") {
        return vec![Finding::Conflict {
            requirements: Vec::new(),
        }];
    }
    let marks = [
        "Failed building wheel for ",
        "Failed to build '",
        "error: failed to build `",
    ];
    let name = marks.iter().find_map(|mark| word_after(line, mark));
    let named = name.and_then(required_project);
    let not_built = named.map(|name| Finding::NotBuilt {
        distribution: project_name(&name),
    });
    not_built.into_iter().collect()
}

fn project_findings(line: &str) -> Vec<Finding> {
    // Docker repeats the command of a failed step, which is not its output.
    if line.contains("returned a non-zero code") || line.starts_with("Step ") {
        let is_wheel =
            line.contains("pip wheel --no-deps") && line.contains("returned a non-zero code");
        return is_wheel
            .then_some(Finding::ProjectNotBuilt)
            .into_iter()
            .collect();
    }
    if let Some((_, wheel)) = line.split_once("swe-ci: the project's wheel is compiled: ") {
        return match wheel.starts_with('$') {
            true => Vec::new(),
            false => vec![Finding::Compiled {
                wheel: wheel.trim().to_owned(),
            }],
        };
    }
    let without_tags = [
        "setuptools-scm was unable to detect version",
        "setuptools_scm was unable to detect version",
        "unable to detect version for",
        "Versioning for this project requires either an sdist tarball, or access to an upstream git repository",
        "unable to extract the version from the version control",
        "Unable to detect version control system",
    ];
    let says = without_tags.iter().any(|text| line.contains(text));
    says.then_some(Finding::NoVersionOfProject)
        .into_iter()
        .collect()
}
