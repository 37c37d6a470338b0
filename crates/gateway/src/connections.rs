//! The connections to a session's socket. Everything in a container may connect,
//! so their number and their idle time are limited: descriptors and memory are
//! those of the platform.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How long accepting pauses after it failed; the process may be out of
/// descriptors.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionLimits {
    /// Open connections of a session; further ones wait to be accepted.
    pub connections: usize,
    /// The longest time until a request's head is complete: after the
    /// connection was opened, and after the previous answer.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 64,
            idle: Duration::from_mins(2),
        }
    }
}

/// Accepts connections until it is dropped. `closed` ends the accepted ones.
pub(super) async fn serve(
    listener: UnixListener,
    router: Router,
    limits: ConnectionLimits,
    closed: CancellationToken,
) -> Infallible {
    let permits = Arc::new(Semaphore::new(limits.connections));
    loop {
        // The semaphore is never closed.
        let permit = permits.clone().acquire_owned().await.ok();
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("the gateway's socket accepts nothing: {error:#}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let connection = serve_connection(stream, router.clone(), limits.idle);
        let closed = closed.clone();
        tokio::spawn(async move {
            closed.run_until_cancelled(connection).await;
            drop(permit);
        });
    }
}

async fn serve_connection(stream: UnixStream, router: Router, idle: Duration) {
    let service = TowerToHyperService::new(router);
    let served = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!("a connection to the gateway failed: {error:#}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    struct Served {
        socket: std::path::PathBuf,
        _folder: tempfile::TempDir,
        server: tokio::task::JoinHandle<Infallible>,
        closed: CancellationToken,
    }

    impl Served {
        fn start(limits: ConnectionLimits) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let socket = folder.path().join("socket");
            let listener = UnixListener::bind(&socket).unwrap();
            let router = Router::new().route("/", get(async || "answer"));
            let closed = CancellationToken::new();
            let server = tokio::spawn(serve(listener, router, limits, closed.clone()));
            Self {
                socket,
                _folder: folder,
                server,
                closed,
            }
        }

        async fn connect(&self) -> UnixStream {
            UnixStream::connect(&self.socket).await.unwrap()
        }
    }

    async fn send(stream: &mut UnixStream) {
        let request = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        stream.write_all(request).await.unwrap();
    }

    async fn answer(stream: &mut UnixStream) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"answer") {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "closed");
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn further_connections_wait_for_a_free_place() {
        let served = Served::start(ConnectionLimits {
            connections: 2,
            ..ConnectionLimits::default()
        });
        let (mut first, mut second) = (served.connect().await, served.connect().await);
        for stream in [&mut first, &mut second] {
            send(stream).await;
            answer(stream).await;
        }
        let mut third = served.connect().await;
        send(&mut third).await;
        // The server has had many occasions to accept the third one.
        for _ in 0..100 {
            send(&mut first).await;
            answer(&mut first).await;
        }
        let unanswered = third.try_read(&mut [0]).unwrap_err();
        assert_eq!(unanswered.kind(), std::io::ErrorKind::WouldBlock);
        drop(second);
        answer(&mut third).await;
        served.server.abort();
    }

    #[tokio::test]
    async fn connections_without_a_request_are_closed() {
        let served = Served::start(ConnectionLimits {
            connections: 1,
            idle: Duration::from_millis(20),
        });
        // Silent, in the middle of a head, and after an answer.
        let mut silent = served.connect().await;
        silent.read_to_end(&mut Vec::new()).await.unwrap();
        let mut slow = served.connect().await;
        slow.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
        slow.read_to_end(&mut Vec::new()).await.unwrap();
        let mut kept = served.connect().await;
        send(&mut kept).await;
        answer(&mut kept).await;
        kept.read_to_end(&mut Vec::new()).await.unwrap();
    }

    #[tokio::test]
    async fn connections_end_with_their_session() {
        let served = Served::start(ConnectionLimits::default());
        let mut stream = served.connect().await;
        send(&mut stream).await;
        answer(&mut stream).await;
        served.closed.cancel();
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0);
    }
}
