//! How an evolution is interrupted from outside.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Tokens that interrupt an evolution at any moment.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    /// The process is about to stop: begin no further step.
    pub drain: CancellationToken,
    /// The process stops or the run is paused: leave everything resumable.
    pub stop: CancellationToken,
    /// The run was cancelled.
    pub cancel: CancellationToken,
}

impl Interrupts {
    pub(super) fn are_raised(&self) -> bool {
        [&self.drain, &self.stop, &self.cancel]
            .iter()
            .any(|token| token.is_cancelled())
    }

    /// Waits; any interruption ends the wait at once.
    pub(super) async fn pause(&self, delay: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.cancel.cancelled() => {}
            () = self.drain.cancelled() => {}
            () = tokio::time::sleep(delay) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would take for ever if one of them were not heard.
    #[tokio::test]
    async fn each_of_them_ends_a_pause() {
        let tokens: [fn(&Interrupts) -> &CancellationToken; 3] =
            [|i| &i.stop, |i| &i.cancel, |i| &i.drain];
        for token in tokens {
            let interrupts = Interrupts::default();
            let token = token(&interrupts);
            tokio::join!(interrupts.pause(Duration::MAX), async {
                tokio::task::yield_now().await;
                token.cancel();
            });
        }
    }
}
