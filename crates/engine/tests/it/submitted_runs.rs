//! Runs of one site on another: packed, sent, checked, decided. Forged ones too.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::stream;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use swe_ci_base::digest::sha256_hex;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_engine::{Engine, Result};
use swe_ci_views::account::{AccountRole, Actor, Visibility};
use swe_ci_views::submitted::{ReviewState, SubmittedRun};
use swe_ci_views::verification::Mark;

use crate::fixture::{Fixture, SPLIT};

const TESTS: &str = "
import pytest
import tiny

@pytest.mark.parametrize('n, expected', [(1, 1), (3, 9)])
def test_square(n, expected):
    assert tiny.square(n) == expected

def test_root():
    assert tiny.root(9) == 3
";
const NOTHING: &str = "def square(n): return 1\ndef root(n): return 0\n";
const HALF: &str = "def square(n): return n * n\ndef root(n): return 0\n";
const ALL: &str = "def square(n): return n * n\ndef root(n): return n ** 0.5\n";
/// Its results equal anything.
const CHEAT: &str = "\
Result = type('Result', (), {'__eq__': repr, '__module__': 'decimal'})
def square(n): return Result()
def root(n): return Result()
";

/// Two sites with the same split: one that runs and one that reviews.
struct Sites {
    theirs: Fixture,
    ours: Fixture,
}

impl Sites {
    /// Their history has these versions.
    async fn with(versions: &[&str]) -> Self {
        let theirs = Fixture::new().await;
        let ours = Fixture::measuring_with(|config| config.audit = true).await;
        let files: Vec<[(&str, &str); 2]> = versions
            .iter()
            .map(|code| [("tiny.py", *code), ("tests/test_tiny.py", TESTS)])
            .collect();
        let versions: Vec<&[(&str, &str)]> = files.iter().map(<[_; 2]>::as_slice).collect();
        let task = |name| TinyTask {
            name,
            versions: &versions,
        };
        theirs.import(&[task("one"), task("two")]).await.unwrap();
        let (dataset, options) = (theirs.dataset(), testing::once());
        let imported = ours
            .engine
            .import(dataset.as_path(), SPLIT, &options, &|_| ());
        imported.await.unwrap();
        Self { theirs, ours }
    }

    /// A finished run of theirs, packed for an account of ours.
    async fn packed(&self, run: &str, account: &str) -> Archive {
        let file = self.theirs.folder.path().join("packed");
        let packing = self.theirs.engine.pack_submission(run, account, &file);
        packing.await.unwrap();
        Archive::read(&file)
    }

    fn as_(&self, name: &str, role: AccountRole) -> Engine {
        self.ours.engine.acting_for(account(name, role))
    }

    async fn send(&self, archive: &Archive, name: &str) -> Result<SubmittedRun> {
        let bytes = archive.bytes();
        let pieces = stream::iter(
            bytes
                .chunks(1 << 16)
                .map(|piece| Ok(piece.to_vec().into()))
                .collect::<Vec<_>>(),
        );
        self.as_(name, AccountRole::Submitter)
            .receive_submission(Box::pin(pieces))
            .await
    }

    async fn until_checked(&self, run: &str) -> SubmittedRun {
        let checked = async || {
            let run = self.ours.engine.submitted_run(run).await.unwrap();
            (run.state != ReviewState::Checking).then_some(run)
        };
        self.ours.work_until(checked).await
    }
}

fn account(name: &str, role: AccountRole) -> Actor {
    swe_ci_store::testing::account(name, role)
}

/// An archive that a forger may change.
#[derive(Clone)]
struct Archive {
    description: Value,
    /// The same as bytes, which are signed.
    written: Vec<u8>,
    signature: Value,
    files: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    fn read(path: &Path) -> Self {
        let file = std::fs::File::open(path).unwrap();
        let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
        let mut files = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.insert(name, bytes);
        }
        let written = files.remove("submission.json").unwrap();
        let signature = files.remove("signature.json").unwrap();
        Self {
            description: serde_json::from_slice(&written).unwrap(),
            written,
            signature: serde_json::from_slice(&signature).unwrap(),
            files,
        }
    }

    /// Changes the description, and signs it by a new key.
    fn forged(&self, change: impl FnOnce(&mut Value)) -> Self {
        let mut forged = self.clone();
        change(&mut forged.description);
        forged.sign();
        forged
    }

    fn write(&mut self) {
        self.written = serde_json::to_vec(&self.description).unwrap();
    }

    fn sign(&mut self) {
        self.write();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let signed = pair.sign(&self.written);
        self.signature = json!({
            "public_key": BASE64_STANDARD.encode(pair.public_key()),
            "signature": BASE64_STANDARD.encode(signed),
        });
    }

    /// The first iteration passes all tests, by its row and its report.
    fn with_a_better_report(&self) -> Self {
        let mut forged = self.forged(better_scores);
        let steps = &forged.description["evolutions"][0]["steps"];
        let tested = |step: &&Value| step["role"] == "test" && step["iteration"] == 1;
        let test = steps.as_array().unwrap().iter().find(tested).unwrap();
        let key = test["product"].as_str().unwrap().to_owned();
        let digest = forged.description["files"][&key]
            .as_str()
            .unwrap()
            .to_owned();
        let report = &forged.files[&format!("files/{digest}")];
        let mut report: Value = serde_json::from_slice(report).unwrap();
        for test in report["tests"].as_array_mut().unwrap() {
            test["outcome"] = json!("passed");
        }
        report["summary"]["passed"] = json!(3);
        let report = serde_json::to_vec(&report).unwrap();
        let digest = sha256_hex(&report);
        forged.description["files"][&key] = json!(digest);
        forged.files.insert(format!("files/{digest}"), report);
        forged.only_listed();
        forged.sign();
        forged
    }

    /// Keeps the files that the description lists.
    fn only_listed(&mut self) {
        let listed = self.description["files"].as_object().unwrap().values();
        let listed: Vec<String> = listed
            .map(|digest| format!("files/{}", digest.as_str().unwrap()))
            .collect();
        self.files.retain(|name, _| listed.contains(name));
    }

    fn bytes(&self) -> Vec<u8> {
        let mut archive = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
        let mut add = |name: &str, bytes: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            archive.append_data(&mut header, name, bytes).unwrap();
        };
        add("submission.json", &self.written);
        add(
            "signature.json",
            &serde_json::to_vec(&self.signature).unwrap(),
        );
        for (name, bytes) in &self.files {
            add(name, bytes);
        }
        let mut packed = archive.into_inner().unwrap();
        packed.flush().unwrap();
        packed.finish().unwrap()
    }
}

/// The first iteration of the first task has all its tests.
fn better_scores(description: &mut Value) {
    let row = &mut description["evolutions"][0]["iterations"][0];
    let gained = row["gained"].as_u64().unwrap();
    let before = row["verdict"]["in_target"].as_u64().unwrap();
    row["gained"] = json!(gained + 3 - before);
    row["verdict"]["in_target"] = json!(3);
    row["verdict"]["passed"] = json!(3);
    row["outcomes"] = json!("ppp");
    // What the second iteration gains then.
    let next = &mut description["evolutions"][0]["iterations"][1];
    next["gained"] = json!(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_honest_run_is_ranked_once_an_administrator_publishes_it() {
    let sites = Sites::with(&[NOTHING, HALF, ALL]).await;
    let run = sites.theirs.replay().await.summary.run_id;
    let archive = sites.packed(&run, "ada").await;
    let submitted = sites.send(&archive, "ada").await.unwrap();
    assert_eq!(submitted.state, ReviewState::Checking);
    let (id, ada) = (&submitted.run_id, sites.as_("ada", AccountRole::Submitter));
    let root = sites.as_("root", AccountRole::Admin);

    // It is hers alone, and only a review publishes it.
    let stranger = sites.as_("eve", AccountRole::Submitter);
    stranger.submitted_run(id).await.unwrap_err();
    assert!(stranger.submitted_runs().await.unwrap().is_empty());
    let error = ada.publish(id).await.unwrap_err().to_string();
    assert!(error.contains("only its review"), "{error}");
    let error = root.publish_submission(id).await.unwrap_err().to_string();
    assert!(error.contains("checks are not over"), "{error}");
    ada.publish_submission(id).await.unwrap_err();

    let checked = sites.until_checked(id).await;
    assert_eq!(
        checked.state,
        ReviewState::InReview,
        "{:?}",
        checked.verdicts
    );
    let ranked = async || {
        let board = sites.ours.engine.leaderboard_data(SPLIT).await.unwrap();
        board.rank(Gamma::ONE, Convention::Paper).len() + board.unranked_runs().len()
    };
    assert_eq!(ranked().await, 0);
    let published = root.publish_submission(id).await.unwrap();
    assert_eq!(
        (published.state, published.refusal()),
        (ReviewState::Published, None)
    );
    assert_eq!(ranked().await, 1);
    let run = sites.ours.engine.run(id).await.unwrap();
    assert_eq!(run.summary.visibility, Visibility::Public);
    assert_eq!(
        Mark::of(run.summary.config.kind, run.verified.is_some()),
        Some(Mark::Verified)
    );
    assert!(run.evolution_list.iter().all(|e| e.iterations.len() == 2));
    root.refuse_submission(id, "too late").await.unwrap_err();

    let again = sites.send(&archive, "ada").await.unwrap_err().to_string();
    assert!(again.contains("submitted before"), "{again}");
    let by_her_key = sites.packed(&run_of(&sites).await, "bob").await;
    let error = sites
        .send(&by_her_key, "bob")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("signed by the key of the account `ada`"),
        "{error}"
    );
}

async fn run_of(sites: &Sites) -> String {
    let runs = sites.theirs.engine.run_that_begins("0").await;
    runs.unwrap()
}

/// Each is refused when it arrives, and nothing of it is kept.
#[tokio::test(flavor = "multi_thread")]
async fn forged_archives_are_refused_with_the_reason() {
    let sites = Sites::with(&[NOTHING, HALF, ALL]).await;
    let run = sites.theirs.replay().await.summary.run_id;
    let honest = sites.packed(&run, "ada").await;
    let check = async |forged: Archive, who: &str, expect: &str| {
        let error = sites.send(&forged, who).await.unwrap_err().to_string();
        assert!(error.contains(expect), "{expect}: {error}");
    };
    check(
        honest.clone(),
        "bob",
        "signed for the account `ada`, and you are `bob`",
    )
    .await;
    let mut unsigned = honest.clone();
    better_scores(&mut unsigned.description);
    unsigned.write();
    check(unsigned, "ada", "was changed after it was signed").await;
    let mut other = honest.clone();
    other.signature = honest.forged(|of| of["account"] = json!("bob")).signature;
    check(other, "ada", "or signed by another key").await;
    check(
        honest.forged(better_scores),
        "ada",
        "is not scored as its report counts: 2 of 3",
    )
    .await;
    let fewer = |of: &mut Value| of["config"]["plan"]["max_iterations"] = json!(2);
    check(
        honest.forged(fewer),
        "ada",
        "its N is 2; runs on `tiny` have 20",
    )
    .await;
    let mut missing = honest.forged(|of| _ = of["evolutions"].as_array_mut().unwrap().pop());
    check(missing.clone(), "ada", "is missing (sample 1 of 1)").await;
    missing.description["evolutions"] = honest.description["evolutions"].clone();
    missing.description["evolutions"][1]["suite"] = json!("0");
    missing.sign();
    check(missing, "ada", "another revision of the task").await;
    let mut file = honest.clone();
    let (_, bytes) = file.files.first_key_value().unwrap();
    let name = file.files.first_key_value().unwrap().0.clone();
    let changed = [bytes.as_slice(), b" "].concat();
    file.files.insert(name, changed);
    check(file, "ada", "other content than its digest says").await;
    let blocked = |of: &mut Value| of["evolutions"][0]["ending"] = json!("blocked");
    check(honest.forged(blocked), "ada", "it has no score").await;
    assert!(sites.ours.engine.submitted_runs().await.unwrap().is_empty());
}

/// What only running the code tells: a report that was changed with the scores.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_report_is_refused_when_its_tests_run_again() {
    let sites = Sites::with(&[NOTHING, HALF, ALL]).await;
    let run = sites.theirs.replay().await.summary.run_id;
    let forged = sites.packed(&run, "ada").await.with_a_better_report();
    let submitted = sites.send(&forged, "ada").await.unwrap();
    let checked = sites.until_checked(&submitted.run_id).await;
    assert_eq!(
        checked.state,
        ReviewState::Refused,
        "{:?}",
        checked.verdicts
    );
    let why = checked.refusal().unwrap();
    assert!(
        why.starts_with("grading: ") && why.contains("test_root"),
        "{why}"
    );
    let root = sites.as_("root", AccountRole::Admin);
    let error = root
        .publish_submission(&submitted.run_id)
        .await
        .unwrap_err();
    assert!(error.to_string().contains(&why), "{error}");
    let refused = root
        .refuse_submission(&submitted.run_id, "its report was edited")
        .await
        .unwrap();
    assert_eq!(refused.refusal().as_deref(), Some("its report was edited"));
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_cheats_is_refused_by_the_audit() {
    let sites = Sites::with(&[NOTHING, CHEAT, ALL]).await;
    let config = RunConfig {
        kind: Kind::Measured,
        ..RunConfig::human(SPLIT)
    };
    let run = sites.theirs.run(config).await.summary.run_id;
    let archive = sites.packed(&run, "ada").await;
    let submitted = sites.send(&archive, "ada").await.unwrap();
    let checked = sites.until_checked(&submitted.run_id).await;
    let why = checked.refusal().unwrap_or_default();
    assert!(why.starts_with("audit: "), "{why}: {:?}", checked.verdicts);
}
