//! Runs curations, one at a time: in a server's worker, or in the command that
//! requested one.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::panics::catch_panic;
use swe_ci_base::{Say, files};
use swe_ci_candidates::environment::distribution::{Finder, Index};
use swe_ci_candidates::environment::python::{BaseImages, USUAL_IMAGES};
use swe_ci_candidates::github::{self, GitHub, RepositoryHit};
use swe_ci_core::task::TaskId;
use swe_ci_dataset::pip;
use swe_ci_sandbox::SweepScope;
use swe_ci_sandbox::images::{BuildNetwork, names_a_user};
use swe_ci_store::CurationRow;
use swe_ci_views::curation::{CurationState, Fate};
use tokio_util::sync::CancellationToken;

use crate::curator::{Curator, Selected, image_name, stopped};
use crate::origin::Fetcher;
use crate::plan::{Origin, Plan, repository_name};
use crate::{Curations, unavailable};

/// How often a server looks for a curation, and whether one was cancelled.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The pause after a failure of the container engine or the network.
const RETRY_DELAY: Duration = Duration::from_secs(30);

impl Curations<'_> {
    /// Runs a curation to its end in this process, or waits while another one
    /// does. Returns its final state.
    ///
    /// # Errors
    /// The failure that interrupts it, `stop` included; another call resumes it.
    pub async fn finish(
        &self,
        id: &str,
        say: Say<'_>,
        stop: &CancellationToken,
    ) -> Result<CurationState> {
        let mut reported = false;
        loop {
            let row = self.store.curation(id).await?;
            if row.state.rests() {
                if let Some(_held) = self.curation_lock()? {
                    self.remove_abandoned().await?;
                }
                return Ok(row.state);
            }
            match self.curation_lock()? {
                Some(_held) => self.carry_out(&row, say, stop).await?,
                None if !reported => {
                    say("a server is working on it; `/datasets` shows its progress".into());
                    reported = true;
                }
                None if stop.is_cancelled() => return Err(stopped()),
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Runs queued curations, one after the other, until `stop`.
    pub async fn work(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.curate_next(stop).await {
                Ok(true) => continue,
                Ok(false) => POLL_INTERVAL,
                Err(_) if stop.is_cancelled() => return,
                Err(error) => {
                    tracing::error!("curation: {:#}", anyhow::Error::new(error));
                    RETRY_DELAY
                }
            };
            stop.run_until_cancelled(tokio::time::sleep(wait)).await;
        }
    }

    async fn curate_next(&self, stop: &CancellationToken) -> Result<bool> {
        let Some(_held) = self.curation_lock()? else {
            return Ok(false);
        };
        let Some(row) = self.store.next_curation().await? else {
            self.remove_abandoned().await?;
            return Ok(false);
        };
        let say = |line: String| tracing::info!(curation = row.id, "{line}");
        self.carry_out(&row, &say, stop).await?;
        Ok(true)
    }

    /// One process at a time: images and folders are shared.
    fn curation_lock(&self) -> Result<Option<File>> {
        Ok(files::lock(&self.settings.data.join("curation.lock"))?)
    }

    async fn carry_out(
        &self,
        row: &CurationRow,
        say: Say<'_>,
        stop: &CancellationToken,
    ) -> Result<()> {
        let store = self.store;
        // Another process may have ended it since.
        let running = store.move_curation(&row.id, &CurationState::Running);
        if !running.await? {
            return Ok(());
        }
        // A killed process leaves the suite running that this one starts anew.
        let swept = self.docker.sweep(SweepScope::ByOthers).await;
        swept.map_err(unavailable)?;
        self.remove_abandoned().await?;
        let stop = stop.child_token();
        let ended = tokio::select! {
            // A panic fails this curation; it would end the worker otherwise, and
            // the next one would begin with the same.
            ended = catch_panic(self.stages(row, say, &stop)) => ended.unwrap_or_else(|e| Err(e.into())),
            () = self.until_cancelled(&row.id) => {
                stop.cancel();
                return self.remove_intermediates(&row.id).await;
            }
        };
        let state = match ended {
            Ok(Selected::ForReview(_)) => CurationState::InReview,
            Ok(Selected::Published(0)) => CurationState::Failed {
                reason: "no candidate became a task; the funnel says at which stage".into(),
            },
            Ok(Selected::Published(_)) => CurationState::Finished,
            // Resumed when the process, the engine or the network is back.
            Err(error @ (Error::Conflict(_) | Error::Unavailable(_))) => return Err(error),
            Err(error) => {
                let reason = error.to_string();
                let failed = CurationState::Failed { reason };
                store.move_curation(&row.id, &failed).await?;
                self.remove_intermediates(&row.id).await?;
                return Err(error);
            }
        };
        store.move_curation(&row.id, &state).await?;
        Ok(())
    }

    /// Removes the intermediate results of curations that were cancelled while
    /// no process carried them out. Only the holder of the lock may call it.
    async fn remove_abandoned(&self) -> Result<()> {
        let homes = self.settings.data.join("curations");
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(homes).into_iter().flatten().flatten() {
            ids.extend(entry.file_name().into_string());
        }
        for id in ids {
            let row = self.store.curation(&id).await;
            if row.is_ok_and(|row| row.state.is_over()) {
                self.remove_intermediates(&id).await?;
            }
        }
        Ok(())
    }

    /// Removes intermediate results: clones, checkouts, the images of candidates
    /// that were not selected, and what builds left without a name.
    async fn remove_intermediates(&self, id: &str) -> Result<()> {
        // The same environment has the same digest, whichever curation built
        // it.
        let needed = self.store.task_images().await?;
        for candidate in self.store.candidates(id).await? {
            if candidate.filtered == Fate::Survived {
                continue;
            }
            // While its last container was about to disappear, it had to stay.
            self.images
                .untag(&image_name(id, &candidate.task_id))
                .await?;
            if candidate.image.is_empty() {
                continue;
            }
            if !needed.contains(&candidate.image) {
                self.image_cache.forget(&candidate.image).await?;
            }
            let task = TaskId::new(&candidate.task_id).map_err(anyhow::Error::new)?;
            // Another curation may have made it a task.
            if self.store.find_task(&task).await?.is_none() {
                let folder = self.folders.root().join(task.as_str());
                blocking(move || files::remove_folder(&folder)).await?;
            }
        }
        self.images.remove_build_remains().await?;
        let home = self.curation_home(id)?;
        blocking(move || files::remove_folder(&home)).await?;
        Ok(())
    }

    fn network(&self) -> Result<BuildNetwork> {
        let settings = self.settings;
        let ca_bundle = settings.ca_bundle.as_deref();
        Ok(BuildNetwork {
            name: settings.build_network_name.clone(),
            ..BuildNetwork::read(settings.build_env.clone(), ca_bundle)?
        })
    }

    fn curation_home(&self, id: &str) -> Result<PathBuf> {
        let home = self.settings.data.join("curations").join(id);
        Ok(std::path::absolute(home).context("cannot resolve the path of the data folder")?)
    }

    async fn until_cancelled(&self, id: &str) {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let row = self.store.curation(id).await;
            if row.is_ok_and(|row| row.state == CurationState::Cancelled) {
                return;
            }
        }
    }

    /// Runs all stages.
    async fn stages(
        &self,
        row: &CurationRow,
        say: Say<'_>,
        stop: &CancellationToken,
    ) -> Result<Selected> {
        let plan = Plan::read(&row.plan).map_err(Error::Invalid)?;
        let settings = self.settings;
        let network = self.network()?;
        let ca = network.ca_bundle.as_deref();
        let base_image = &settings.base_image;
        let url = match &settings.package_index {
            Some(url) => Ok(url.clone()),
            None => pip::default_index(self.sandbox, base_image).await,
        };
        let url = url.map_err(unavailable)?;
        let cache = settings.data.join("cache").join("index");
        let index = Index::new(&url, &cache, ca)?;
        let finder = Finder::new(Index::new(&url, &cache, ca)?);
        // An image's history would disclose a user's name and password.
        let without_times = index.without_times().await;
        let without_times = without_times.map_err(unavailable)?;
        let index_without_times = without_times.filter(|url| !names_a_user(url));
        let bases = self.base_images(&plan).await?;
        let curator = Curator {
            curations: self,
            id: &row.id,
            plan: &plan,
            reviewed: row.reviewed_at.is_some(),
            home: self.curation_home(&row.id)?,
            network: &network,
            fetcher: Fetcher {
                index: &index,
                limits: &plan.limits,
                env: &settings.build_env,
                ca_bundle: settings.ca_bundle.as_deref(),
            },
            finder: &finder,
            index_without_times,
            bases: &bases,
            say,
            stop,
        };
        let versions: Vec<&str> = bases.keys().map(String::as_str).collect();
        say(format!("Python {}", versions.join(", ")));
        self.put_repositories(row, &plan, say).await?;
        curator.examine_repositories().await?;
        curator.try_candidates().await?;
        let selected = curator.select().await?;
        match selected {
            Selected::ForReview(tasks) => say(format!("{tasks} tasks wait for a review")),
            Selected::Published(tasks) => {
                self.remove_intermediates(&row.id).await?;
                say(format!("split {}: {tasks} tasks", plan.split));
            }
        }
        Ok(selected)
    }

    /// The plan's base images; without any, the server's own and the usual ones
    /// that are here or can be pulled.
    async fn base_images(&self, plan: &Plan) -> Result<BaseImages> {
        if !plan.environment.images.is_empty() {
            return Ok(plan.environment.images.clone());
        }
        let own = &self.settings.base_image;
        let version = pip::python_version(self.sandbox, own).await;
        let mut bases = BaseImages::from([(version.map_err(unavailable)?, own.clone())]);
        for (version, usual) in USUAL_IMAGES {
            if bases.contains_key(version) {
                continue;
            }
            // As `scripts/setup.sh pythons` names them.
            let made_here = format!("swe-ci/base:py{}", version.replace('.', ""));
            for name in [made_here, usual.to_owned()] {
                if self.images.is_available(&name).await.map_err(unavailable)? {
                    bases.insert(version.to_owned(), name);
                    break;
                }
            }
        }
        Ok(bases)
    }

    async fn put_repositories(&self, row: &CurationRow, plan: &Plan, say: Say<'_>) -> Result<()> {
        if !self.store.curated_repositories(&row.id).await?.is_empty() {
            return Ok(());
        }
        let mut repositories: Vec<(String, Origin)> = Vec::new();
        for source in &plan.source {
            if let Some(address) = &source.git {
                let name = source.name.clone();
                let name = name.unwrap_or_else(|| repository_name(address));
                let origin = Origin::Git {
                    address: address.clone(),
                    branch: source.branch.clone(),
                };
                repositories.push((name, origin));
            } else if let Some(package) = &source.package {
                let origin = Origin::Package {
                    package: package.clone(),
                    from: source.from.clone(),
                    to: source.to.clone(),
                };
                repositories.push((package.clone(), origin));
            } else if let Some(search) = &source.github {
                repositories.extend(self.search_github(search, say).await?);
            }
        }
        let mut seen = std::collections::HashSet::new();
        repositories.retain(|(name, _)| seen.insert(name.clone()));
        let mut rows: Vec<(String, String)> = Vec::new();
        for (name, origin) in repositories {
            let origin = serde_json::to_string(&origin).context("an origin cannot be written")?;
            rows.push((name, origin));
        }
        say(match rows.as_slice() {
            [(name, _)] => format!("fetching {name}"),
            all => format!("{} repositories", all.len()),
        });
        self.store.put_curated_repositories(&row.id, &rows).await
    }

    async fn search_github(
        &self,
        search: &github::Search,
        say: Say<'_>,
    ) -> Result<Vec<(String, Origin)>> {
        let settings = self.settings;
        let endpoint = settings.github_endpoint.as_deref();
        let endpoint = endpoint.unwrap_or(github::DEFAULT_ENDPOINT);
        let network = self.network()?;
        let ca = network.ca_bundle.as_deref();
        let client = GitHub::new(endpoint, settings.github_token.clone(), ca)?;
        let report = |progress| say(format!("GitHub: {progress:?}"));
        let found = client.search(search, Timestamp::now(), &report).await;
        let found = found.map_err(|error| match error.concerns_all() {
            true => Error::Unavailable(error.to_string()),
            false => Error::Invalid(error.to_string()),
        })?;
        for gap in &found.gaps {
            say(format!(
                "GitHub lists {} of {} repositories: {gap:?}",
                gap.listed, gap.total
            ));
        }
        let origin = |hit: RepositoryHit| {
            let name = hit.full_name.replace('/', "__");
            let origin = Origin::Git {
                address: hit.clone_url,
                branch: Some(hit.default_branch),
            };
            (name, origin)
        };
        Ok(found.hits.into_iter().map(origin).collect())
    }
}
