//! Runs blocking work (git, archives, compression) off the async runtime, and
//! much of it on all processors.

use std::any::Any;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

/// Runs `work` on a thread that may block.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let result = on_a_thread(Box::new(move || Box::new(work()))).await?;
    let result = result.downcast::<anyhow::Result<T>>();
    *result.ok().context("the work has another result")?
}

type Work = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;
type Done = Pin<Box<dyn Future<Output = anyhow::Result<Box<dyn Any + Send>>> + Send>>;

/// Without types of the caller's, so that tokio's machinery is compiled once and
/// not for every closure.
fn on_a_thread(work: Work) -> Done {
    Box::pin(async { Ok(tokio::task::spawn_blocking(work).await?) })
}

/// Applies `work` to all items on as many threads as there are processors.
/// Blocks; the results are in the items' order.
///
/// # Panics
/// As `work` does.
pub fn side_by_side<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(items.len());
    let items = Mutex::new(items.into_iter().enumerate());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || {
        let mut done = Vec::new();
        while let Some((position, item)) = next() {
            done.push((position, work(item)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work_off)).collect();
        let each = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        each.flatten().collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_come_back_and_panics_are_errors() {
        assert_eq!(blocking(|| Ok(7)).await.unwrap(), 7);
        let failed = blocking(|| -> anyhow::Result<u8> { anyhow::bail!("no") }).await;
        assert_eq!(failed.unwrap_err().to_string(), "no");
        let panicked = blocking(|| -> anyhow::Result<u8> { panic!("at once") }).await;
        assert!(panicked.unwrap_err().to_string().contains("at once"));
    }

    #[test]
    fn results_are_in_order() {
        let doubled = side_by_side((0..1_000).collect(), |n: u32| n * 2);
        assert!(doubled.into_iter().eq((0..1_000).map(|n| n * 2)));
        assert!(side_by_side(Vec::<u32>::new(), |n| n).is_empty());
    }

    #[test]
    #[should_panic(expected = "of all numbers, 7")]
    fn a_panic_is_passed_on() {
        side_by_side((0..10).collect(), |n| assert_ne!(n, 7, "of all numbers, 7"));
    }
}
