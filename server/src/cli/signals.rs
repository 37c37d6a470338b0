//! Ends commands in order when the process is told to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;

/// The first signal stops the command in order, the second at once.
pub(super) fn stop_on_signals(shutdown: CancellationToken) -> Result<(), Failure> {
    let listen =
        |kind| signal(kind).map_err(|e| Failure::new(format!("cannot listen for signals: {e}")));
    let (mut interrupt, mut terminate) = (
        listen(SignalKind::interrupt())?,
        listen(SignalKind::terminate())?,
    );
    tokio::spawn(async move {
        let name = either(&mut interrupt, &mut terminate).await;
        tracing::info!("{name}: stopping");
        shutdown.cancel();
        let name = either(&mut interrupt, &mut terminate).await;
        tracing::warn!("{name} again: ending at once");
        std::process::exit(1);
    });
    Ok(())
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) -> &'static str {
    tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
    }
}
