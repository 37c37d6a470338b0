//! Runs blocking work (git, archives, compression) off the async runtime.

/// Runs `work` on a thread that may block.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}
