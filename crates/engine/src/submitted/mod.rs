//! Runs on their way from one site to another: an archive with everything that
//! another site needs to check a run, signed.
//!
//! ```text
//! submission.json   the run without its files, which it names by their digests
//! signature.json    an Ed25519 signature of that file
//! files/<SHA-256>   code, requirement documents, reports, logs, trajectories
//! ```
//! It is a tar archive, compressed by zstd, with its entries in this order.

mod check;
mod pack;
mod receive;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_store::{IterationRow, StepRow, Suite};
use swe_ci_views::view::Provenance;

pub use pack::PackedRun;
pub use receive::MOST_ARCHIVE_BYTES;

/// The version of the format.
const FORMAT: u32 = 1;
const DESCRIPTION: &str = "submission.json";
const SIGNATURE: &str = "signature.json";
const FILES: &str = "files/";
/// The most bytes of one of them.
const MOST_FILE: u64 = 512 << 20;
/// In the data folder: the key that signs the runs of this site.
const KEY_FILE: &str = "submission.key";
/// The layout that a received run names as its origin.
const LAYOUT: &str = "submission";

/// What is signed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    format: u32,
    /// The account that may submit it: nobody else can send a copy.
    account: String,
    config: RunConfig,
    provenance: Provenance,
    evolutions: Vec<DescribedEvolution>,
    /// SHA-256 of each file, by its name in the rows.
    files: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedEvolution {
    task_id: TaskId,
    sample: u32,
    base_sha: String,
    target_sha: String,
    /// Of the tests that count, and their outcomes on the base.
    suite: String,
    ending: Ending,
    reason: Option<String>,
    steps: Vec<StepRow>,
    iterations: Vec<IterationRow>,
}

impl DescribedEvolution {
    /// The names of its files, to be read or replaced.
    fn files(&mut self) -> impl Iterator<Item = &mut String> {
        let steps = self
            .steps
            .iter_mut()
            .flat_map(|step| [&mut step.product, &mut step.log, &mut step.trajectory]);
        let codes = self.iterations.iter_mut().map(|row| &mut row.code);
        steps.flatten().chain(codes).filter(|name| !name.is_empty())
    }
}

fn suite_digest(suite: &Suite) -> Result<String> {
    let json = serde_json::to_vec(suite).context("a suite has no JSON")?;
    Ok(sha256_hex(&json))
}

/// The signature of a description, with the key that it verifies with; in base64.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    public_key: String,
    signature: String,
}

impl Signature {
    /// By the key of a data folder, which is made when absent.
    fn of(description: &[u8], data: &Path) -> Result<Self> {
        let file = data.join(KEY_FILE);
        if !file.exists() {
            let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
                .map_err(|_| anyhow!("the system provides no random numbers"))?;
            let new = files::beside(&file, "new");
            let made = files::new_private_file(&new)
                .and_then(|()| std::fs::write(&new, pkcs8.as_ref()))
                .and_then(|()| std::fs::rename(&new, &file));
            made.with_context(|| format!("cannot write {}", file.display()))?;
        }
        let pkcs8 = files::read_limited(&file, 4_096)?;
        let pair = Ed25519KeyPair::from_pkcs8(&pkcs8)
            .map_err(|_| anyhow!("{} is no Ed25519 key in PKCS #8", file.display()))?;
        Ok(Self {
            public_key: BASE64_STANDARD.encode(pair.public_key()),
            signature: BASE64_STANDARD.encode(pair.sign(description)),
        })
    }

    /// # Errors
    /// [`Error::Invalid`] when it is not of this description.
    fn verify(&self, description: &[u8]) -> Result<()> {
        let decoded = |text: &str| BASE64_STANDARD.decode(text).unwrap_or_default();
        let key = UnparsedPublicKey::new(&ED25519, decoded(&self.public_key));
        key.verify(description, &decoded(&self.signature)).map_err(|_| {
            Error::Invalid(format!("{SIGNATURE} does not sign this {DESCRIPTION}: it was changed after it was signed, or signed by another key"))
        })
    }
}
