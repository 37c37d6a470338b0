//! Deletion of runs and splits, with the files that nothing else needs.

use std::io;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_store::Unnamed;
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::dataset::SplitContent;

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Deletes a run that is over: its results, code and recordings. The name of
    /// its model confirms it. A submitter deletes private runs alone: one that was
    /// public is withdrawn, and its reason stays.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another name; [`Error::Conflict`] while it is needed.
    pub async fn delete_run(&self, run_id: &str, name: &str) -> Result<()> {
        let run = self.steerable_run(run_id).await?;
        if run.visibility != Visibility::Private {
            self.require(AccountRole::Admin)?;
        }
        confirmed(name, &run.config.model)?;
        self.remove_files(self.store.delete_run(run_id, self.by()).await?)
            .await
    }

    /// Deletes a split with all its runs, and the tasks that no other split has.
    /// Its snapshots stay. Its name confirms it. For administrators.
    ///
    /// # Errors
    /// As [`Engine::delete_run`].
    pub async fn delete_split(&self, split: &str, name: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        confirmed(name, split)?;
        self.remove_files(self.store.delete_split(split, self.by()).await?)
            .await
    }

    /// Counts what the store deletes with a split; none for those who may not delete it.
    pub async fn deletable_split(&self, split: &str) -> Result<Option<SplitContent>> {
        Ok(match self.by().is(AccountRole::Admin) {
            true => Some(self.store.content_of_split(split).await?),
            false => None,
        })
    }

    /// Removes files that no row names, even if the one who asked has gone.
    async fn remove_files(&self, unnamed: Unnamed) -> Result<()> {
        let engine = self.clone();
        let removing = tokio::spawn(async move {
            let artifacts = &engine.artifacts;
            for evolution in &unnamed.evolutions {
                let folder = format!("evolutions/{evolution}");
                artifacts.remove_folder(&folder).await?;
            }
            for artifact in &unnamed.artifacts {
                artifacts.remove(artifact).await?;
            }
            for task in unnamed.tasks {
                artifacts.remove_folder(&format!("tasks/{task}")).await?;
                let checkout = engine.folders.root().join(&task);
                blocking(move || match std::fs::remove_dir_all(checkout) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
                    _ => Ok(()),
                })
                .await?;
            }
            anyhow::Ok(())
        });
        Ok(removing.await.map_err(anyhow::Error::new)??)
    }
}

fn confirmed(typed: &str, name: &str) -> Result<()> {
    match typed.trim() == name.trim() {
        true => Ok(()),
        false => Err(Error::Invalid(format!("type “{name}” to confirm it"))),
    }
}
