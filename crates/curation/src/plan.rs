//! The plan of a curation: sources, and rules for each stage. A TOML file, in
//! which everything but a name and one source has a default.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use swe_ci_base::toml_problems;
use swe_ci_candidates::github::Search;
use swe_ci_candidates::{CollectRules, First, Licences, SpanRules, Unchanged};
use swe_ci_core::step::Plan as StepPlan;
use swe_ci_core::task::{TestCommand, is_plain_name};
use swe_ci_views::preparation::Condition;

/// An example plan, with comments.
pub const EXAMPLE_PLAN: &str = include_str!("example.toml");

const MAX_PLAN: usize = 1 << 20;
const MAX_SOURCES: usize = 10_000;
/// A curation's page shows so many candidates.
const MOST_IN_REVIEW: usize = 500;

/// A plan; `docs/curation.md` describes every field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub split: String,
    /// The N that the split's runs are scored over: 20 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    #[serde(default)]
    pub source: Vec<Source>,
    /// The first stage.
    #[serde(default)]
    pub collect: CollectRules,
    /// The second.
    #[serde(default)]
    pub spans: SpanRules,
    #[serde(default)]
    pub environment: Environment,
    #[serde(default)]
    pub filter: Filter,
    #[serde(default)]
    pub limits: Limits,
}

/// Where repositories come from: exactly one of the first three.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// An address git can clone, or a folder on the server.
    pub git: Option<String>,
    /// A package of the index; its releases become commits.
    pub package: Option<String>,
    /// The results of a GitHub search.
    pub github: Option<Search>,
    /// For a git repository: a name other than the end of its address.
    pub name: Option<String>,
    /// For a git repository: a branch other than its main one.
    pub branch: Option<String>,
    /// For a package: the first release to use.
    pub from: Option<String>,
    /// For a package: the last one.
    pub to: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A larger clone is abandoned.
    pub repository_mib: u64,
    /// Only the largest candidates of a repository go on; environments are
    /// expensive.
    pub candidates_per_repository: usize,
    /// The newest releases of a package, at most this many.
    pub releases: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            repository_mib: 2_048,
            candidates_per_repository: 20,
            releases: 200,
        }
    }
}

/// The third stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Environment {
    /// Base images by their version of Python, such as `"3.12" =
    /// "python:3.12-slim"`; the server's own when there is none.
    pub images: BTreeMap<String, String>,
    pub repairs: usize,
    /// The share of tests, 0 to 1, that pass in an environment that is not repaired
    /// any more.
    pub enough: f64,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            images: BTreeMap::new(),
            repairs: 10,
            enough: 1.0,
        }
    }
}

/// The fourth stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// The fewest tests that the target passes and the base does not: 5 in
    /// section 3.1.
    pub min_gap: u32,
    /// Runs of the target's suite.
    pub repeats: u32,
    /// Slower suites are rejected; in seconds.
    pub max_suite_seconds: f64,
    /// Chunks of the real history that are tested for each task, 0 for none.
    pub replay: u32,
    /// Seconds that a test may take, 0 for no limit; the split records it.
    pub max_test_seconds: u16,
    /// Runs of the target's suite in a random order, 0 for none.
    pub shuffles: u32,
    /// Under which other conditions it runs as well.
    pub conditions: Vec<Condition>,
    /// Whether a person decides about the tasks before they are published.
    pub review: bool,
    pub most_per_repository: usize,
    /// The most tasks in all: 100 in section 3.1.
    pub most: usize,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            min_gap: 5,
            repeats: 5,
            max_suite_seconds: 600.0,
            replay: 20,
            max_test_seconds: 60,
            shuffles: 10,
            conditions: vec![Condition::Home, Condition::Clock],
            review: false,
            most_per_repository: 3,
            most: 100,
        }
    }
}

impl Filter {
    pub fn test_command(&self) -> TestCommand {
        TestCommand::Platform {
            test_seconds: NonZeroU16::new(self.max_test_seconds),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    Git {
        address: String,
        branch: Option<String>,
    },
    Package {
        package: String,
        from: Option<String>,
        to: Option<String>,
    },
}

impl Plan {
    /// Parses a plan.
    ///
    /// # Errors
    /// All its problems, each with its line or field.
    pub fn read(toml: &str) -> Result<Self, String> {
        if toml.len() > MAX_PLAN {
            return Err(format!("the plan is larger than {MAX_PLAN} bytes"));
        }
        toml_problems::read(toml, EXAMPLE_PLAN, |_, plan: &Self| plan.problems())
    }

    /// A first look at one repository: its newest spans, with gentle thresholds and
    /// none of the trials that a published split deserves.
    pub fn first_look(split: &str, source: Source) -> Self {
        Self {
            split: split.to_owned(),
            max_iterations: Some(5),
            source: vec![source],
            collect: CollectRules {
                min_age_years: 0.0,
                licences: Licences::Any,
                allow_links_outside: true,
                ..CollectRules::default()
            },
            spans: SpanRules {
                min_modified_lines: 30,
                min_source_lines: 10,
                min_test_lines: 10,
                most_commits: 50,
                unchanged: Unchanged::Runtime,
                first: First::Newest,
                ..SpanRules::default()
            },
            environment: Environment {
                repairs: 5,
                enough: 0.9,
                ..Environment::default()
            },
            filter: Filter {
                min_gap: 3,
                repeats: 2,
                max_suite_seconds: 300.0,
                replay: 0,
                shuffles: 0,
                conditions: Vec::new(),
                most: 3,
                ..Filter::default()
            },
            limits: Limits {
                candidates_per_repository: 12,
                ..Limits::default()
            },
        }
    }

    /// The plan for commits from this day on, such as `2026-11-01`.
    ///
    /// # Errors
    /// If the text is no day.
    pub fn since(mut self, day: &str) -> Result<Self, String> {
        let day = day
            .parse()
            .map_err(|e| format!("since: `{day}` is no day such as 2026-11-01: {e}"))?;
        self.spans.since = Some(day);
        Ok(self)
    }

    /// The whole plan, defaults included.
    pub fn to_toml(&self) -> anyhow::Result<String> {
        toml::to_string_pretty(self).context("the plan cannot be written")
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if !is_plain_name(&self.split) {
            problems.push(format!("split: `{}` cannot name a split", self.split));
        }
        // The address of a split's page contains its name.
        if self.split == "new" {
            problems.push("split: `new` is the page for new splits; choose another name".into());
        }
        let most = StepPlan::MOST_ITERATIONS;
        if self
            .max_iterations
            .is_some_and(|n| !(1..=most).contains(&n))
        {
            problems.push(format!("max_iterations: it must be 1 to {most}"));
        }
        match self.source.len() {
            0 => problems.push("source: there is none; add a [[source]]".into()),
            1..=MAX_SOURCES => {}
            n => problems.push(format!("source: {n} are more than {MAX_SOURCES}")),
        }
        for (at, source) in self.source.iter().enumerate() {
            if let Some(problem) = source.problem() {
                problems.push(format!("source {}: {problem}", at + 1));
            }
        }
        let (limits, filter) = (&self.limits, &self.filter);
        let per_repository = limits.candidates_per_repository;
        let counts = [
            ("limits.candidates_per_repository", per_repository),
            ("limits.releases", limits.releases),
            ("filter.most_per_repository", filter.most_per_repository),
            ("filter.most", filter.most),
            ("filter.repeats", filter.repeats as usize),
        ];
        let nothing = counts.into_iter().filter(|(_, value)| *value == 0);
        problems.extend(nothing.map(|(name, _)| format!("{name}: it must be 1 or more")));
        let most = [
            ("filter.repeats", filter.repeats, 100),
            ("filter.shuffles", filter.shuffles, 100),
            (
                "filter.max_test_seconds",
                filter.max_test_seconds.into(),
                3_600,
            ),
        ];
        let above = most.into_iter().filter(|(_, value, most)| value > most);
        problems.extend(above.map(|(name, _, most)| format!("{name}: it must be {most} or less")));
        if filter.review && filter.most > MOST_IN_REVIEW {
            problems.push(format!(
                "filter.most: with `review`, it must be {MOST_IN_REVIEW} or less; its page shows no more"
            ));
        }
        if !(0.0..=1.0).contains(&self.environment.enough) {
            problems.push("environment.enough: it must be 0 to 1".into());
        }
        if filter.conditions.contains(&Condition::Order) {
            problems.push(
                "filter.conditions: `order` does not belong here; `shuffles` says how often".into(),
            );
        }
        problems
    }
}

impl Source {
    fn problem(&self) -> Option<String> {
        let (git, package) = (self.git.is_some(), self.package.is_some());
        if u8::from(git) + u8::from(package) + u8::from(self.github.is_some()) != 1 {
            return Some("it takes exactly one of `git`, `package` and `github`".into());
        }
        let of_git = self.name.is_some() || self.branch.is_some();
        let of_package = self.from.is_some() || self.to.is_some();
        match (&self.git, &self.package) {
            (None, _) if of_git => Some("`name` and `branch` go with `git`".into()),
            (_, None) if of_package => Some("`from` and `to` go with `package`".into()),
            (Some(address), _) => git_problem(address, self.name.as_deref()),
            (_, Some(package)) if !is_project(package) => {
                Some(format!("package: `{package}` is no name of a package"))
            }
            _ => None,
        }
    }
}

fn is_project(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=100).contains(&name.len())
        && name.chars().all(inner)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn git_problem(address: &str, name: Option<&str>) -> Option<String> {
    const SCHEMES: [&str; 4] = ["https://", "http://", "ssh://", "git://"];
    let remote = SCHEMES.iter().any(|scheme| address.starts_with(scheme));
    let short = !remote && address.contains("::");
    if address.starts_with('-') || short || (address.contains("://") && !remote) {
        return Some(format!(
            "git: `{address}` is neither an address of https, http, ssh or git nor a folder"
        ));
    }
    let place = address
        .split_once("://")
        .and_then(|(_, rest)| rest.split('/').next());
    let user = place.is_some_and(|place| place.contains('@'));
    if user && !address.starts_with("ssh://") {
        return Some(
            "git: an address must not hold a user or a password; plans are stored and shown".into(),
        );
    }
    let name = name.map_or_else(|| repository_name(address), str::to_owned);
    (!is_plain_name(&name)).then(|| format!("name: `{name}` cannot name a repository"))
}

/// `owner__name` of an address, the last part of a folder.
pub fn repository_name(address: &str) -> String {
    let trimmed = address.trim_end_matches('/').trim_end_matches(".git");
    let path = match trimmed.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, path)| path),
        None => {
            let name = PathBuf::from(trimmed);
            let name = name.file_name().unwrap_or_default();
            return plain(&name.to_string_lossy());
        }
    };
    let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.reverse();
    plain(&parts.join("__"))
}

fn plain(name: &str) -> String {
    let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = name
        .chars()
        .map(|c| if known(c) { c } else { '-' })
        .take(80)
        .collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_plan_has_the_papers_thresholds() {
        let plan = Plan::read("split = 'mine'\n[[source]]\npackage = 'tinydb'").unwrap();
        assert_eq!(plan.spans.min_modified_lines, 1_000);
        assert_eq!(plan.spans.min_source_lines, 500);
        assert_eq!(plan.collect.min_age_years, 3.0);
        assert_eq!((plan.filter.min_gap, plan.filter.most), (5, 100));
        let again = plan.to_toml().unwrap();
        assert_eq!(Plan::read(&again).unwrap(), plan);
        let recent = plan.since("2026-11-01").unwrap();
        let again = recent.to_toml().unwrap();
        assert!(again.contains("2026-11-01"), "{again}");
        assert_eq!(Plan::read(&again).unwrap(), recent);
        assert!(recent.since("yesterday").unwrap_err().contains("yesterday"));
    }

    #[test]
    fn a_first_look_is_a_valid_plan() {
        let source = Source {
            git: Some("/srv/git/lib.git".into()),
            ..Source::default()
        };
        let plan = Plan::first_look("try-lib-0123456", source);
        assert_eq!(Plan::read(&plan.to_toml().unwrap()).unwrap(), plan);
    }

    #[test]
    fn problems_name_their_field() {
        let check = |toml: &str, expect: &str| {
            let error = Plan::read(toml).unwrap_err();
            assert!(error.contains(expect), "{toml}\n{error}");
        };
        let with = |rest: &str| format!("split = 'a'\n[[source]]\n{rest}");
        check("", "split");
        check("split = 'a'", "there is none; add a [[source]]");
        check("split = '../a'\n[[source]]\npackage='a'", "split: `../a`");
        check(&with(""), "source 1: it takes exactly one");
        check(&with("package='a'\ngit='b'"), "exactly one");
        check(&with("package='a'\nbranch='b'"), "go with `git`");
        check(&with("git='a'\nfrom='1'"), "go with `package`");
        check(&with("package='../x'"), "no name of a package");
        check(&with("git='--upload-pack=x'"), "neither an address");
        check(&with("git='ext::sh -c x'"), "neither an address");
        check(&with("git='file:///etc'"), "neither an address");
        check(&with("git='https://u:p@h/a/b'"), "must not hold a user");
        check(&with("git='/a/..'"), "cannot name a repository");
        check(
            &with("package='a'\nstars=1"),
            "line 4, source.0.stars: there is no such field",
        );
        check(&with("package='a'\n[spans]\nmin_lines=1"), "min_lines");
        check(
            &with("package='a'\n[filter]\nmost=0\nreview='x'"),
            "line 5, filter.most: it must be 1 or more\n\
             line 6, filter.review: invalid type: string \"x\", expected a boolean",
        );
        let filter = |rest: &str| with(&format!("package='a'\n[filter]\n{rest}"));
        check(
            &filter("review=true\nmost=501"),
            "with `review`, it must be 500",
        );
        check(
            &with("package='a'\n[environment]\nenough=90"),
            "enough: it must be 0 to 1",
        );
        check(&filter("conditions=['order']"), "`shuffles` says how often");
        check(
            &filter("max_test_seconds=3601"),
            "max_test_seconds: it must be 3600 or less",
        );
    }

    #[test]
    fn repositories_have_names() {
        let check = |address: &str, expect: &str| assert_eq!(repository_name(address), expect);
        check("https://example.org/psf/requests.git", "psf__requests");
        check("https://example.org/psf/requests/", "psf__requests");
        check("ssh://git@example.org/a/b/c", "b__c");
        check("/srv/git/lib.git", "lib");
        check("../lib", "lib");
        check("https://example.org/ä/b c", "-__b-c");
    }
}
