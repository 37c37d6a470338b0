//! Panics of one piece of work that must not end the others.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use anyhow::anyhow;

/// Carries out `work`. A panic of it becomes an error with the panic's message.
///
/// # Errors
/// Only that. State that `work` shares with others must be valid at any moment,
/// because nothing of it runs after the panic.
pub async fn catch_panic<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                let message = message(&*panic);
                Poll::Ready(Err(anyhow!("swe-ci has a defect; it panicked: {message}")))
            }
        }
    })
    .await
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_message() {
        let work = async |wanted: u32| {
            tokio::task::yield_now().await;
            match wanted {
                0 => panic!("a text"),
                1 => panic!("a text with the number {wanted}"),
                n => n,
            }
        };
        let text = catch_panic(work(0)).await.unwrap_err().to_string();
        assert!(text.ends_with("panicked: a text"), "{text}");
        let text = catch_panic(work(1)).await.unwrap_err().to_string();
        assert!(text.ends_with("with the number 1"), "{text}");
        assert_eq!(catch_panic(work(2)).await.unwrap(), 2);
    }
}
