//! Work that a page starts and that only this process can carry out: what it
//! works on is on this machine. Its state is in memory: after a restart nothing
//! of it is left, and it can be started again.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::background::{BackgroundWork, WorkState};

/// One piece of work at a time, cheap to clone. Of ended work it has the last.
#[derive(Debug, Clone, Default)]
pub struct LocalWork(Arc<Mutex<Option<BackgroundWork>>>);

impl LocalWork {
    pub fn last(&self) -> Option<BackgroundWork> {
        self.lock().clone()
    }

    /// Starts some work, which returns its result in words.
    ///
    /// # Errors
    /// [`Error::Conflict`] while there is such work already.
    pub fn start(
        &self,
        by: &Actor,
        work: impl Future<Output = Result<String>> + Send + 'static,
    ) -> Result<()> {
        let mut last = self.lock();
        if last.as_ref().is_some_and(BackgroundWork::is_active) {
            return Err(Error::Conflict(
                "this is at work already; wait until it has ended".into(),
            ));
        }
        *last = Some(BackgroundWork {
            by: by.name().to_owned(),
            began_at: rfc3339(now_ms()),
            progress: String::new(),
            state: WorkState::Working,
        });
        drop(last);
        let (own, work) = (self.clone(), tokio::spawn(work));
        tokio::spawn(async move {
            // A panic ends it too.
            let ended = work.await.map_err(anyhow::Error::new);
            own.end(ended.map_err(Error::Internal).flatten());
        });
        Ok(())
    }

    fn end(&self, result: Result<String>) {
        let state = match result {
            Ok(result) => WorkState::Done { result },
            Err(error) => {
                let reason = error.chain();
                tracing::warn!(error = reason, "background work failed");
                WorkState::Failed { reason }
            }
        };
        if let Some(work) = self.lock().as_mut() {
            work.state = state;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<BackgroundWork>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The state once the work has ended.
    async fn ended(local: &LocalWork) -> WorkState {
        loop {
            let work = local.last().unwrap();
            if !work.is_active() {
                return work.state;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn one_piece_of_work_at_a_time() {
        let local = LocalWork::default();
        assert_eq!(local.last(), None);
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let begun = local.start(&Actor::Operator, async move {
            wait.await.map_err(anyhow::Error::new)?;
            Ok("2 of 2".to_owned())
        });
        begun.unwrap();
        let again = local.start(&Actor::Operator, async { Ok(String::new()) });
        assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
        go.send(()).unwrap();
        let result = "2 of 2".to_owned();
        assert_eq!(ended(&local).await, WorkState::Done { result });
        assert_eq!(local.last().unwrap().by, "operator");

        let failing = async { Err(Error::Unavailable("no engine".into())) };
        local.start(&Actor::Operator, failing).unwrap();
        let reason = "no engine".to_owned();
        assert_eq!(ended(&local).await, WorkState::Failed { reason });
    }

    #[tokio::test]
    async fn a_panic_ends_work() {
        let local = LocalWork::default();
        local
            .start(&Actor::Operator, async { panic!("a bug") })
            .unwrap();
        let state = ended(&local).await;
        assert!(matches!(state, WorkState::Failed { .. }), "{state:?}");
    }
}
