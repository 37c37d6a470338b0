//! Access: the actor the façade serves, and what that actor may do.
//!
//! Data an actor may not see does not exist for it: the answer is "not found",
//! which discloses nothing. A change of data it only may see is forbidden.
//!
//! Work on this machine (imports, exports, rescoring, curations, layers, the
//! worker, sweeps) takes the role of an administrator, as the command line and
//! the server themselves have it: no method relies on not being routed.

use std::sync::Arc;

use swe_ci_base::error::{Error, Result};
use swe_ci_store::{EvolutionRow, Whose};
use swe_ci_views::account::{AccountRole, Actor};
use swe_ci_views::view::RunSummary;

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The same engine for another actor.
    #[must_use]
    pub fn acting_for(&self, by: Actor) -> Self {
        Self {
            parts: self.parts.clone(),
            by: Arc::new(by),
        }
    }

    pub fn by(&self) -> &Actor {
        &self.by
    }

    /// Requires this role of the actor.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for visitors, [`Error::Forbidden`] for
    /// accounts with less.
    pub fn require(&self, role: AccountRole) -> Result<()> {
        if self.by.is(role) {
            return Ok(());
        }
        Err(match self.by() {
            Actor::Visitor => {
                Error::Unauthenticated("sign in first; a program sends an API token".into())
            }
            _ => Error::Forbidden(format!(
                "this takes the role {}; an administrator can give it to your account",
                role.name()
            )),
        })
    }

    /// A run, if the actor may see it.
    pub(crate) async fn visible_run(&self, id: &str) -> Result<RunSummary> {
        let standing = self.store.standing(id).await?;
        if !self.by.may_see(&standing) {
            return Err(Error::not_found("run", id));
        }
        self.store.run(id).await
    }

    /// An evolution, if the actor may see its run.
    pub(crate) async fn visible_evolution(&self, id: &str) -> Result<EvolutionRow> {
        let row = self.store.evolution(id).await?;
        let standing = self.store.standing(&row.run_id).await?;
        if !self.by.may_see(&standing) {
            return Err(Error::not_found("evolution", id));
        }
        Ok(row)
    }

    /// A run, if the actor may see and steer it.
    pub(crate) async fn steerable_run(&self, id: &str) -> Result<RunSummary> {
        let run = self.visible_run(id).await?;
        self.require(AccountRole::Submitter)?;
        let standing = self.store.standing(id).await?;
        if !self.by.may_steer(&standing) {
            return Err(Error::Forbidden(
                "only the submitter of this run and administrators may do that".into(),
            ));
        }
        Ok(run)
    }

    /// The runs that lists show the actor.
    pub(crate) fn visible_runs(&self) -> Whose {
        if self.by.is(AccountRole::Admin) {
            return Whose::All;
        }
        let who = self.by.identity();
        who.map_or(Whose::Public, |who| Whose::Of(who.account_id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use swe_ci_core::results::Layout;
    use swe_ci_core::step::Role;
    use swe_ci_core::task::TaskId;
    use swe_ci_dataset::ImportOptions;
    use swe_ci_store::testing::account;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Config;
    use crate::results::ImportRequest;
    use swe_ci_core::requirement::Mode;

    /// The results of all methods that work on this machine.
    async fn work_on_the_machine(
        engine: &Engine,
        folder: &Path,
    ) -> Vec<(&'static str, Option<Error>)> {
        let say = |_: String| {};
        let request = ImportRequest {
            layout: Layout::Reference,
            metadata: folder.join("none.csv"),
            split: None,
            model: "m".into(),
            provider: String::new(),
            release_date: None,
            mode: Mode::default(),
            harness: None,
            max_iterations: Some(1),
        };
        let stop = CancellationToken::new();
        stop.cancel();
        let options = ImportOptions::default();
        let import = engine.import(folder, "s", &options, &say).await;
        vec![
            ("import", import.err()),
            ("import_demo", engine.import_demo(&say).await.err()),
            (
                "import_results",
                engine.import_results(folder, &request).await.err(),
            ),
            ("check_export", engine.check_export("s").await.err()),
            ("export", engine.export("s", folder, &say).await.err()),
            (
                "export_for_harbor",
                engine.export_for_harbor("s", folder, 1, &say).await.err(),
            ),
            ("rescore", engine.rescore(None).await.err()),
            (
                "build_layer",
                engine.build_layer("opencode", None, &say).await.err(),
            ),
            (
                "curate",
                engine
                    .curate("c", &say, &CancellationToken::new())
                    .await
                    .err(),
            ),
            ("first_look", engine.first_look("/none", None).await.err()),
            (
                "open_step",
                engine
                    .open_step("r", &TaskId::new("t").unwrap(), 1, 1, Role::Test)
                    .await
                    .err(),
            ),
            ("lock_for_work", engine.lock_for_work().err()),
            ("work", engine.work(stop).await.err()),
            ("sweep_accounts", engine.sweep_accounts().await.err()),
            ("sweep_deliveries", engine.sweep_deliveries().await.err()),
        ]
    }

    #[tokio::test]
    async fn only_administrators_work_on_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let operator = Engine::open(Config::new(folder.path().to_owned()));
        let operator = operator.await.unwrap();
        let visitor = operator.acting_for(Actor::Visitor);
        for (method, error) in work_on_the_machine(&visitor, folder.path()).await {
            assert!(
                matches!(error, Some(Error::Unauthenticated(_))),
                "{method}: {error:?}"
            );
        }
        let ada = operator.acting_for(account("ada", AccountRole::Submitter));
        for (method, error) in work_on_the_machine(&ada, folder.path()).await {
            assert!(
                matches!(error, Some(Error::Forbidden(_))),
                "{method}: {error:?}"
            );
        }
    }
}
