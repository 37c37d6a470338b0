//! Snapshots of leaderboards: making them, and reading what they hold.

use std::io::Read;

use anyhow::Context;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::{now_ms, rfc3339, unix_ms};
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_core::requirement::Mode;
use swe_ci_store::NewSnapshot;
use swe_ci_views::account::AccountRole;
use swe_ci_views::leaderboard::{Frozen, LeaderboardData, Snapshot};

use crate::published::published;
use crate::{Engine, as_u32};

swe_ci_core::plain_named! {
    /// How often snapshots are made without being asked for.
    pub enum SnapshotEvery {
        Day = "day",
        Week = "week",
        Month = "month",
    }
}

impl SnapshotEvery {
    /// Whether the next one is due after one made at this time; both in unix
    /// milliseconds, days and months in UTC.
    fn is_due(self, last_ms: i64, now_ms: i64) -> bool {
        let day = |ms: i64| ms.div_euclid(86_400_000);
        match self {
            Self::Day => day(now_ms) > day(last_ms),
            Self::Week => day(now_ms) >= day(last_ms) + 7,
            Self::Month => rfc3339(now_ms)[..7] > rfc3339(last_ms)[..7],
        }
    }
}

/// Level of zstd: a snapshot is written once.
const LEVEL: i32 = 12;
/// The largest content in bytes, packed and not.
const MOST_PACKED: usize = 16 << 20;
const MOST_UNPACKED: u64 = 256 << 20;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Makes today's snapshot of a split.
    ///
    /// # Errors
    /// [`Error::Conflict`] when there is one already, [`Error::Invalid`] while no
    /// run of the split has a score, or when they are too many.
    pub async fn make_snapshot(&self, split: &str) -> Result<Snapshot> {
        self.require(AccountRole::Admin)?;
        let content = self
            .content(split)
            .await?
            .ok_or_else(|| Error::Invalid(format!("no run of split {split} has a score yet")))?;
        self.put_snapshot(split, content).await
    }

    /// Makes the snapshots that are due; returns how many. One split that fails
    /// keeps no other from its own.
    pub async fn make_due_snapshots(&self, every: SnapshotEvery) -> Result<u32> {
        self.require(AccountRole::Admin)?;
        let mut made = 0;
        for split in self.splits().await? {
            match self.make_if_due(&split.name, every).await {
                Ok(is_made) => made += u32::from(is_made),
                Err(error) => tracing::warn!(
                    split = %split.name,
                    error = error.chain(),
                    "a snapshot could not be made"
                ),
            }
        }
        Ok(made)
    }

    /// A split that is as its last snapshot gets none.
    async fn make_if_due(&self, split: &str, every: SnapshotEvery) -> Result<bool> {
        let last = self.store.last_snapshot(split).await?;
        let made_at = last.as_ref().and_then(|last| unix_ms(&last.made_at));
        if made_at.is_some_and(|last| !every.is_due(last, now_ms())) {
            return Ok(false);
        }
        let content = self.content(split).await?;
        let is_new = |content: &Content| last.is_none_or(|last| last.digest != content.digest);
        let Some(content) = content.filter(is_new) else {
            return Ok(false);
        };
        match self.put_snapshot(split, content).await {
            Ok(_) => Ok(true),
            // Another server was faster.
            Err(Error::Conflict(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All snapshots, the latest first.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.store.snapshots().await
    }

    /// The snapshot of a day of a split, or of the largest split that has one.
    pub async fn snapshot(&self, day: &str, split: Option<&str>) -> Result<Snapshot> {
        self.store.snapshot(day, split).await
    }

    /// The content of a snapshot: the JSON that its digest is of.
    pub async fn snapshot_content(&self, of: &Snapshot) -> Result<Vec<u8>> {
        let packed = self.store.snapshot_content(of).await?;
        let digest = of.digest.clone();
        Ok(blocking(move || unpacked(&packed, &digest)).await?)
    }

    /// The leaderboard of a mode in a snapshot.
    pub(super) async fn frozen_leaderboard(
        &self,
        split: &str,
        day: &str,
        mode: Mode,
    ) -> Result<LeaderboardData> {
        let snapshot = self.store.snapshot(day, Some(split)).await?;
        let content = self.snapshot_content(&snapshot).await?;
        let read = blocking(move || {
            serde_json::from_slice::<Frozen>(&content).context("a snapshot cannot be read")
        });
        let frozen = read.await?;
        // Its numbers would not be those that the citation of it names.
        if frozen.metric_version != METRIC_VERSION {
            return Err(Error::Conflict(format!(
                "the snapshot of {day} has version {} of the metric definitions, this server version \
                 {METRIC_VERSION}; its content can still be downloaded",
                frozen.metric_version
            )));
        }
        Ok(frozen.leaderboard(snapshot, mode))
    }

    /// The content of a snapshot of a split as it is now; `None` while no run has a score.
    async fn content(&self, split: &str) -> Result<Option<Content>> {
        self.check_split(split).await?;
        let mut runs = self.store.leaderboard_runs(split).await?;
        runs.retain(|run| run.config.handover.is_none());
        let runs = self.entries_of(split, runs).await?;
        if runs.is_empty() {
            return Ok(None);
        }
        let frozen = Frozen {
            split: split.to_owned(),
            platform_version: env!("CARGO_PKG_VERSION").to_owned(),
            metric_version: METRIC_VERSION,
            extent: self.extent_of(split).await?,
            published: published().clone(),
            runs,
        };
        Ok(Some(blocking(move || Content::of(&frozen)).await?))
    }

    async fn put_snapshot(&self, split: &str, content: Content) -> Result<Snapshot> {
        let (bytes, day) = (content.json.len() as u64, self.today());
        let (content, packed) = blocking(move || {
            let packed = content.packed()?;
            Ok((content, packed))
        })
        .await?;
        if packed.len() > MOST_PACKED || bytes > MOST_UNPACKED {
            return Err(Error::Invalid(format!(
                "the runs of split {split} are too many for a snapshot: it would take {} MiB, and may take {}; \
                 packed {} and {}",
                bytes >> 20,
                MOST_UNPACKED >> 20,
                packed.len() >> 20,
                MOST_PACKED >> 20
            )));
        }
        let new = NewSnapshot {
            day: &day,
            split,
            digest: &content.digest,
            runs: content.runs,
            tasks: content.tasks,
            platform_version: env!("CARGO_PKG_VERSION"),
            content: &packed,
        };
        self.store.put_snapshot(&new, self.by()).await?;
        self.store.snapshot(&day, Some(split)).await
    }
}

/// The content of a snapshot.
#[derive(Debug)]
struct Content {
    /// Of the JSON.
    digest: String,
    json: Vec<u8>,
    runs: u32,
    tasks: u32,
}

impl Content {
    fn of(frozen: &Frozen) -> anyhow::Result<Self> {
        let json = serde_json::to_vec(frozen)?;
        Ok(Self {
            digest: sha256_hex(&json),
            json,
            runs: as_u32(frozen.runs.len()),
            tasks: frozen.extent.tasks,
        })
    }

    /// As the database has it: this takes most of the time that a snapshot takes.
    fn packed(&self) -> anyhow::Result<String> {
        let packed = zstd::encode_all(self.json.as_slice(), LEVEL)?;
        Ok(BASE64_STANDARD.encode(packed))
    }
}

/// # Errors
/// For content that is not what the digest is of.
fn unpacked(content: &str, digest: &str) -> anyhow::Result<Vec<u8>> {
    let packed = BASE64_STANDARD.decode(content)?;
    let mut json = Vec::new();
    zstd::Decoder::new(packed.as_slice())?
        .take(MOST_UNPACKED)
        .read_to_end(&mut json)?;
    let found = sha256_hex(&json);
    anyhow::ensure!(
        found == digest,
        "a snapshot was changed in the database: its digest is {found} instead of {digest}"
    );
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_views::leaderboard::{Extent, Published};

    #[test]
    fn when_the_next_one_is_due() {
        let check = |last: &str, now: &str, expect: [bool; 3]| {
            let ms = |text: &str| unix_ms(text).unwrap();
            let due = SnapshotEvery::ALL.map(|every| every.is_due(ms(last), ms(now)));
            assert_eq!(due, expect, "{last} {now}");
        };
        let last = "2026-11-27T23:00:00Z";
        check(last, last, [false; 3]);
        check(last, "2026-11-27T23:59:59Z", [false; 3]);
        check(last, "2026-11-28T00:00:00Z", [true, false, false]);
        check(last, "2026-12-01T00:00:00Z", [true, false, true]);
        check(last, "2026-12-04T00:00:00Z", [true, true, true]);
        check(
            "2026-11-01T00:00:00Z",
            "2026-11-30T00:00:00Z",
            [true, true, false],
        );
        check(
            "2026-12-31T23:00:00Z",
            "2027-01-01T00:00:00Z",
            [true, false, true],
        );
        // A clock that was put back.
        check("2026-12-01T00:00:00Z", last, [false; 3]);
    }

    #[test]
    fn changed_content_is_refused() {
        let frozen = Frozen {
            split: "s".into(),
            platform_version: "0.1.0".into(),
            metric_version: 1,
            extent: Extent::default(),
            published: Published::default(),
            runs: Vec::new(),
        };
        let content = Content::of(&frozen).unwrap();
        let json = unpacked(&content.packed().unwrap(), &content.digest).unwrap();
        assert_eq!(serde_json::from_slice::<Frozen>(&json).unwrap(), frozen);
        let other = Frozen {
            split: "t".into(),
            ..frozen
        };
        let other = Content::of(&other).unwrap().packed().unwrap();
        assert!(unpacked(&other, &content.digest).is_err());
        assert!(unpacked("not packed", &content.digest).is_err());
    }
}
