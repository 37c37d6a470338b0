//! `swe-ci submit`: packs a run for another site, and sends it there.

use std::path::PathBuf;

use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use swe_ci_engine::{Engine, PackedRun, http_client};
use swe_ci_views::submitted::SubmittedRun;
use url::Url;

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
The archive has what the other site needs to check the run: configuration, code,
requirement documents, test reports, logs, trajectories and digests. The key in
the data folder (submission.key) signs it; the first submission makes it. Only
the account that it is packed for can submit it.

The other site checks N, tasks and counts at once, runs a sample of the tests
again, audits the code, and shows the verdicts to an administrator, who
publishes or refuses the run (docs/submissions.md).

Examples:
  SWE_CI_TOKEN=… swe-ci submit 0199a1b2-… --to https://bench.example.org
  swe-ci submit 0199a1b2-… --account ada --file run.tar.zst";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a finished run, or how it begins
    #[arg(value_name = "ID")]
    id: String,
    /// Address of the site; your token of it is in SWE_CI_TOKEN
    #[arg(long, value_name = "URL", required_unless_present = "file")]
    to: Option<Url>,
    /// Write the archive into this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "to", requires = "account")]
    file: Option<PathBuf>,
    /// Your account on the other site
    #[arg(long, value_name = "NAME", conflicts_with = "to")]
    account: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(
    engine: &Engine,
    options: &Options,
    token: Option<SecretString>,
) -> Result<(), Failure> {
    let run = engine.run_that_begins(&options.id).await?;
    if let (Some(file), Some(account)) = (&options.file, &options.account) {
        let packed = engine.pack_submission(&run, account, file).await?;
        return output::show(&packed, options.json, |packed: &PackedRun| {
            output::line(format_args!(
                "{}: {} evolutions, {} files, {} bytes, signed by {}",
                file.display(),
                packed.evolutions,
                packed.files,
                packed.bytes,
                packed.public_key
            ))
        });
    }
    let Some(to) = options.to.clone() else {
        return Err(Failure::usage(
            "name a site with --to, or a file with --file",
        ));
    };
    let token = token.ok_or_else(|| {
        Failure::usage(
            "SWE_CI_TOKEN is not set, and a submission needs the token of an account there",
        )
        .next("make one on the site, on the page of your account")
    })?;
    let site = Site::new(to, token)?;
    let account = site.account().await?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
    let file = folder.path().join("run.tar.zst");
    let packed = engine.pack_submission(&run, &account, &file).await?;
    output::note(format_args!(
        "packed {} files, {} bytes",
        packed.files, packed.bytes
    ));
    let submitted = site.send(&file).await?;
    output::show(&submitted, options.json, |run: &SubmittedRun| {
        output::line(&run.run_id)?;
        output::note(format_args!(
            "it waits for the checks of the site: {}",
            site.address("submissions")
        ));
        Ok(())
    })
}

struct Site {
    client: reqwest::Client,
    at: Url,
    token: SecretString,
}

/// The part of an RFC 9457 problem that a person reads.
#[derive(Deserialize)]
struct Problem {
    detail: String,
}

#[derive(Deserialize)]
struct Me {
    name: String,
}

impl Site {
    fn new(mut at: Url, token: SecretString) -> Result<Self, Failure> {
        if !at.path().ends_with('/') {
            at.set_path(&format!("{}/", at.path()));
        }
        let client = http_client().build();
        let client = client.map_err(|error| Failure::new(format!("no HTTP client: {error}")))?;
        Ok(Self { client, at, token })
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.at)
    }

    /// The name of the token's account.
    async fn account(&self) -> Result<String, Failure> {
        let asked = self.client.get(self.address("api/v1/me"));
        Ok(self.answer::<Me>(asked).await?.name)
    }

    async fn send(&self, file: &std::path::Path) -> Result<SubmittedRun, Failure> {
        let unread = |error| Failure::new(format!("the archive cannot be read: {error}"));
        let file = tokio::fs::File::open(file).await.map_err(unread)?;
        let length = file.metadata().await.map_err(unread)?.len();
        let pieces = tokio_util::io::ReaderStream::new(file);
        let body = reqwest::Body::wrap_stream(pieces);
        let asked = self
            .client
            .post(self.address("api/v1/submissions"))
            .body(body);
        let asked = asked.header("content-type", "application/zstd");
        self.answer(asked.header("content-length", length)).await
    }

    async fn answer<T: serde::de::DeserializeOwned>(
        &self,
        asked: reqwest::RequestBuilder,
    ) -> Result<T, Failure> {
        let silent =
            |error: reqwest::Error| Failure::new(format!("{} does not answer: {error}", self.at));
        let answer = asked
            .bearer_auth(self.token.expose_secret())
            .send()
            .await
            .map_err(silent)?;
        let (status, bytes) = (answer.status(), answer.bytes().await.map_err(silent)?);
        if !status.is_success() {
            let problem = serde_json::from_slice::<Problem>(&bytes);
            let why = problem.map_or_else(|_| status.to_string(), |problem| problem.detail);
            return Err(Failure::new(format!("{} refuses it: {why}", self.at)));
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| Failure::new(format!("{} is no site of swe-ci: {error}", self.at)))
    }
}
