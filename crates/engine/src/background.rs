//! Work that a request starts and that goes on after the response. Its state is
//! in memory: after a restart nothing of it is left, and it can be started
//! again.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::background::{BackgroundWork, WorkState};

/// The object of some work; each is worked on once at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A run, by its id: its tests run again.
    Verification(String),
    /// A run, by its id: a model judges its iterations.
    Judge(String),
    /// Cached images and layers are evicted.
    Eviction,
    /// A split of a dataset is imported.
    Import,
}

/// All work of this process, cheap to clone. Of ended work it has the last.
#[derive(Debug, Clone, Default)]
pub struct Background {
    works: Arc<Mutex<HashMap<Subject, BackgroundWork>>>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Where work tells how far it is.
#[derive(Debug, Clone)]
pub struct Reporter {
    background: Background,
    subject: Subject,
}

impl Background {
    pub fn of(&self, subject: &Subject) -> Option<BackgroundWork> {
        self.lock().get(subject).cloned()
    }

    /// Starts some work, which returns its result in words.
    ///
    /// # Errors
    /// [`Error::Conflict`] while there is such work already.
    pub fn start<F>(
        &self,
        subject: Subject,
        by: &Actor,
        work: impl FnOnce(Reporter) -> F,
    ) -> Result<()>
    where
        F: Future<Output = Result<String>> + Send + 'static,
    {
        let begun = BackgroundWork {
            by: by.name().to_owned(),
            began_at: rfc3339(now_ms()),
            progress: String::new(),
            state: WorkState::Working,
        };
        let mut all = self.lock();
        if all.get(&subject).is_some_and(BackgroundWork::is_working) {
            return Err(Error::Conflict(
                "this is at work already; wait until it has ended".into(),
            ));
        }
        all.insert(subject.clone(), begun);
        drop(all);
        let reporter = Reporter {
            background: self.clone(),
            subject,
        };
        let work = tokio::spawn(work(reporter.clone()));
        tokio::spawn(async move {
            // A panic ends it too.
            let ended = work.await.map_err(anyhow::Error::new);
            reporter.end(ended.map_err(Error::Internal).flatten());
        });
        Ok(())
    }

    /// Waits for its turn: of the work that keeps the processors busy, one is
    /// carried out at a time.
    pub async fn turn(&self) -> impl Drop {
        self.turn.clone().lock_owned().await
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, BackgroundWork>> {
        self.works.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter {
    pub fn say(&self, progress: String) {
        self.change(|work| work.progress = progress);
    }

    fn end(&self, result: Result<String>) {
        let state = match result {
            Ok(result) => WorkState::Done { result },
            Err(error) => {
                tracing::warn!(subject = ?self.subject, error = error.chain(), "background work failed");
                let reason = error.chain();
                WorkState::Failed { reason }
            }
        };
        self.change(|work| work.state = state);
    }

    fn change(&self, change: impl FnOnce(&mut BackgroundWork)) {
        if let Some(work) = self.background.lock().get_mut(&self.subject) {
            change(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The state once the work has ended.
    async fn ended(background: &Background, subject: &Subject) -> WorkState {
        loop {
            let work = background.of(subject).unwrap();
            if !work.is_working() {
                return work.state;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn each_subject_is_worked_on_once_at_a_time() {
        let background = Background::default();
        let of = |run: &str| Subject::Verification(run.to_owned());
        assert_eq!(background.of(&of("a")), None);
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let begun = background.start(of("a"), &Actor::Operator, |reporter| async move {
            reporter.say("1 of 2".into());
            wait.await.map_err(anyhow::Error::new)?;
            Ok("2 of 2".to_owned())
        });
        begun.unwrap();
        let again = background.start(of("a"), &Actor::Operator, |_| async { Ok(String::new()) });
        assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
        let other = background.start(of("b"), &Actor::Operator, |_| async {
            Err(Error::Unavailable("no engine".into()))
        });
        other.unwrap();
        let reason = "no engine".to_owned();
        assert_eq!(
            ended(&background, &of("b")).await,
            WorkState::Failed { reason }
        );
        while background.of(&of("a")).unwrap().progress.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        go.send(()).unwrap();
        let result = "2 of 2".to_owned();
        assert_eq!(
            ended(&background, &of("a")).await,
            WorkState::Done { result }
        );
        let work = background.of(&of("a")).unwrap();
        assert_eq!(
            (work.by.as_str(), work.progress.as_str()),
            ("operator", "1 of 2")
        );
    }

    #[tokio::test]
    async fn a_panic_ends_work() {
        let background = Background::default();
        let of_run = || Subject::Verification("a".to_owned());
        let begun = background.start(of_run(), &Actor::Operator, |_| async { panic!("a bug") });
        begun.unwrap();
        let state = ended(&background, &of_run()).await;
        assert!(matches!(state, WorkState::Failed { .. }), "{state:?}");
    }
}
