//! A limit on requests that need much memory for a short time: reports, logs,
//! recordings and versions of the code are read whole, and anybody may ask for
//! them.

use std::sync::Arc;

use swe_ci_base::error::{Error, Result};
use swe_ci_store::artifacts::is_outage;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reads at once, and how many more wait; each takes up to some hundred MiB.
const AT_ONCE: usize = 2;
const WAITING: usize = 32;

/// Permits for heavy reads. Clones share them.
#[derive(Debug, Clone)]
pub struct HeavyReads {
    permits: Arc<Semaphore>,
    /// For those that read and those that wait.
    places: Arc<Semaphore>,
}

/// Lets its holder read, until it is dropped.
#[derive(Debug)]
pub struct HeavyReadPermit {
    _permit: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Default for HeavyReads {
    fn default() -> Self {
        Self::new(AT_ONCE, WAITING)
    }
}

impl HeavyReads {
    fn new(at_once: usize, waiting: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(at_once)),
            places: Arc::new(Semaphore::new(at_once + waiting)),
        }
    }

    /// A permit, after those who asked before. A holder must not ask for
    /// another.
    ///
    /// # Errors
    /// [`Error::Busy`] at once when too many wait already.
    pub async fn permit(&self) -> Result<HeavyReadPermit> {
        let place = self.places.clone().try_acquire_owned();
        let place = place.map_err(|_| Error::Busy)?;
        let permit = self.permits.clone().acquire_owned().await;
        Ok(HeavyReadPermit {
            _permit: permit.map_err(anyhow::Error::new)?,
            _place: place,
        })
    }
}

/// The typed error in what a read returns, so that its caller learns that the
/// server is busy, or that what it asks for is neither missing nor damaged.
pub fn typed(error: anyhow::Error) -> Error {
    if is_outage(error.as_ref()) {
        tracing::warn!("something stored cannot be read now: {error:#}");
        return Error::Unavailable(
            "the files of results cannot be read at the moment; try again in a minute".into(),
        );
    }
    error.downcast().unwrap_or_else(Error::Internal)
}

/// Tells an outage from what no later try changes: returns what was read, or
/// `None` if it is missing, damaged or too large.
///
/// # Errors
/// [`Error::Unavailable`] for an outage.
pub fn readable<T>(read: anyhow::Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_outage(error.as_ref()) => Err(typed(error)),
        Err(error) => {
            tracing::warn!("something stored cannot be read: {error:#}");
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn some_read_some_wait_and_the_rest_is_refused() {
        let reads = HeavyReads::new(1, 1);
        let first = reads.permit().await.unwrap();
        let mut second = Box::pin(reads.permit());
        assert!(second.as_mut().now_or_never().is_none());
        assert!(matches!(reads.permit().await, Err(Error::Busy)));
        drop(first);
        let second = second.await.unwrap();
        // A caller that went away leaves its place.
        let mut third = Box::pin(reads.permit());
        assert!(third.as_mut().now_or_never().is_none());
        drop(third);
        drop(second);
        reads.permit().await.unwrap();
    }
}
