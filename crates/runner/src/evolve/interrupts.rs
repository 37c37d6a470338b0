//! How an evolution is interrupted from outside.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Tokens that interrupt an evolution at any moment.
#[derive(Debug, Clone)]
pub struct Interrupts {
    /// The process stops or the run is paused: leave everything resumable.
    pub stop: CancellationToken,
    /// The run was cancelled.
    pub cancel: CancellationToken,
}

impl Interrupts {
    /// Waits; any interruption ends the wait at once.
    pub(super) async fn pause(&self, delay: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.cancel.cancelled() => {}
            () = tokio::time::sleep(delay) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would take for ever if one of them were not heard.
    #[tokio::test]
    async fn stopping_and_cancelling_end_a_pause() {
        for cancelled in [false, true] {
            let interrupts = Interrupts {
                stop: CancellationToken::new(),
                cancel: CancellationToken::new(),
            };
            let token = if cancelled {
                &interrupts.cancel
            } else {
                &interrupts.stop
            };
            tokio::join!(interrupts.pause(Duration::MAX), async {
                tokio::task::yield_now().await;
                token.cancel();
            });
        }
    }
}
