//! Locks by name, so that work on one thing does not wait for work on another.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::{Mutex, OwnedMutexGuard};

/// Clones share the locks.
#[derive(Debug, Clone, Default)]
pub struct NamedLocks(Arc<std::sync::Mutex<HashMap<String, Weak<Mutex<()>>>>>);

impl NamedLocks {
    pub async fn lock(&self, name: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(name).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(name.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_same_name_waits() {
        let locks = NamedLocks::default();
        let held = locks.lock("a").await;
        let now = async |name: &str| {
            let mut lock = Box::pin(locks.lock(name));
            std::future::poll_fn(|context| std::task::Poll::Ready(lock.as_mut().poll(context)))
                .await
                .is_ready()
        };
        assert!(now("b").await && !now("a").await);
        drop(held);
        assert!(now("a").await);
    }
}
