//! The plans that languages usually have. A further language is a further entry.
//!
//! Manifests such as `Cargo.toml`, `package.json` and `go.mod` are no settings: with the
//! target's, code on its way there may not even build.

use super::{PYTHON, ReportFiles, TestPlan};

/// The languages that have defaults.
pub const LANGUAGES: [&str; 4] = [PYTHON, "rust", "javascript", "go"];

pub(super) fn of(language: &str) -> Option<TestPlan> {
    let plan = match language {
        "rust" => Defaults {
            build: "cargo build --offline",
            test: include_str!("rust.sh"),
            report: "reports/*.xml",
            tests: &["tests/**", "**/tests/**"],
            settings: &[
                ".cargo/**",
                ".config/nextest.toml",
                "rust-toolchain",
                "rust-toolchain.toml",
            ],
            caches: &["target", "reports"],
        },
        "javascript" => Defaults {
            build: "",
            test: "node --test --test-reporter=junit --test-reporter-destination=junit.xml",
            report: "junit.xml",
            tests: &[
                "test/**",
                "tests/**",
                "**/__tests__/**",
                "**/*.test.*",
                "**/*.spec.*",
            ],
            settings: &[
                ".npmrc",
                ".mocharc*",
                "jest.config.*",
                "vitest.config.*",
                "babel.config.*",
                "tsconfig*.json",
            ],
            caches: &["node_modules", "coverage"],
        },
        "go" => Defaults {
            build: "go build ./...",
            test: "gotestsum --junitfile junit.xml ./...",
            report: "junit.xml",
            tests: &["**/*_test.go", "**/testdata/**"],
            settings: &[],
            caches: &[],
        },
        _ => return None,
    };
    Some(plan.of(language))
}

/// A plan in constants.
struct Defaults {
    /// Empty where the tests alone build.
    build: &'static str,
    test: &'static str,
    report: &'static str,
    tests: &'static [&'static str],
    settings: &'static [&'static str],
    caches: &'static [&'static str],
}

impl Defaults {
    fn of(self, language: &str) -> TestPlan {
        let owned = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect();
        TestPlan {
            language: language.to_owned(),
            build: (!self.build.is_empty()).then(|| self.build.to_owned()),
            test: self.test.to_owned(),
            report: ReportFiles::Junit(vec![self.report.to_owned()]),
            tests: owned(self.tests),
            settings: owned(self.settings),
            caches: owned(self.caches),
            build_seconds: None,
            test_seconds: None,
        }
    }
}
