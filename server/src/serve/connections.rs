//! Connections: how many are open at once, and how long a silent one lasts.
//!
//! A connection costs a file descriptor before it has sent anything, and the
//! database, the containers and the agents' sockets need descriptors too. So
//! there is a limit. Connections beyond it take one of a few reserve places, in
//! which only the health probes are answered: whoever operates the server sees
//! that it lives while visitors hold all its connections.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::Router;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer;

use super::idle_timeout::IdleTimeout;
use super::requests::Admission;

/// A live page holds one connection for as long as somebody looks at it.
const MOST: usize = 2_048;
/// The share of the process's descriptors that connections may take.
const SHARE: usize = 2;
const RESERVE: usize = 16;
/// The head of a request is larger only with an enormous cookie.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Limits on connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Connections that are served at once.
    most: usize,
    /// Connections beyond them, for probes. A new one displaces the oldest.
    reserve: usize,
    /// Time for the head of a request; also how long a connection waits for its
    /// next request.
    head: Duration,
    /// The same in the reserve.
    reserve_head: Duration,
    /// Time without a byte in either direction.
    idle: Duration,
}

impl Limits {
    /// The limits of a process that may open this many files.
    pub(super) fn of_open_files(files: usize) -> Self {
        Self {
            most: (files / SHARE).clamp(1, MOST),
            reserve: RESERVE,
            head: Duration::from_secs(15),
            reserve_head: Duration::from_secs(2),
            // Longer than a request may take, and than event streams are silent.
            idle: Duration::from_secs(75),
        }
    }
}

/// Answers requests until `shutdown`, and returns when all connections have
/// ended.
pub(super) async fn serve(
    mut listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.most));
    let mut reserve = Reserve::new(limits.reserve);
    let tasks = TaskTracker::new();
    loop {
        // After an error it waits a second: descriptors may have run out.
        let (stream, peer) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = shutdown.cancelled() => break,
        };
        let connection = Connection {
            stream,
            peer,
            router: router.clone(),
            limits,
            shutdown: shutdown.clone(),
        };
        if let Ok(place) = places.clone().try_acquire_owned() {
            tasks.spawn(async move {
                connection.answer(Admission::Everything).await;
                drop(place);
            });
        } else {
            let task = tasks.spawn(connection.answer(Admission::ProbesOnly));
            reserve.admit(task.abort_handle());
        }
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
}

impl Connection {
    async fn answer(self, admission: Admission) {
        let Self { stream, limits, .. } = self;
        // Without it a streamed page waits for the client's delayed
        // acknowledgements: 44 ms instead of 3 ms.
        let _ = stream.set_nodelay(true);
        let router = Extension(ConnectInfo(self.peer)).layer(self.router);
        let service = TowerToHyperService::new(Extension(admission).layer(router));
        let stream = TokioIo::new(IdleTimeout::new(stream, limits.idle));

        let served = admission == Admission::Everything;
        let mut builder = Builder::new(TokioExecutor::new()).http1_only();
        builder
            .http1()
            .timer(TokioTimer::new())
            .max_buf_size(MAX_HEAD_BYTES)
            .keep_alive(served)
            .header_read_timeout(match served {
                true => limits.head,
                false => limits.reserve_head,
            });
        let mut connection = pin!(builder.serve_connection(stream, service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.shutdown.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::trace!("a connection broke: {error:#}");
        }
    }
}

/// The connections in the reserve, oldest first.
#[derive(Debug)]
struct Reserve {
    most: usize,
    taken: VecDeque<AbortHandle>,
}

impl Reserve {
    fn new(most: usize) -> Self {
        Self {
            most,
            taken: VecDeque::with_capacity(most),
        }
    }

    /// A probe asks as soon as it is connected, so the oldest connection is the
    /// one that only holds its place.
    fn admit(&mut self, connection: AbortHandle) {
        self.taken.retain(|taken| !taken.is_finished());
        if self.taken.len() >= self.most
            && let Some(oldest) = self.taken.pop_front()
        {
            oldest.abort();
        }
        self.taken.push_back(connection);
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::serve::requests;

    const LONG: Duration = Duration::from_secs(3_600);
    const PATIENT: Limits = Limits {
        most: 3,
        reserve: 2,
        head: LONG,
        reserve_head: LONG,
        idle: LONG,
    };

    struct Site {
        address: SocketAddr,
        shutdown: CancellationToken,
        server: tokio::task::JoinHandle<()>,
    }

    async fn site(limits: Limits) -> Site {
        let router = Router::new()
            .route("/", get(|| async { "a page" }))
            .route("/echo", axum::routing::post(|body: String| async { body }))
            .route("/silent", get(std::future::pending::<()>))
            .route("/health/live", get(|| async { "alive" }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let router = requests::layers(router);
        let server = tokio::spawn(serve(listener, router, limits, shutdown.clone()));
        Site {
            address,
            shutdown,
            server,
        }
    }

    impl Site {
        /// A connection that has sent this, and waits.
        async fn holding(&self, text: &str) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            stream
        }

        /// The whole answer on a new connection.
        async fn get(&self, path: &str) -> String {
            let text = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            let mut answer = String::new();
            let mut stream = self.holding(&text).await;
            let _ = stream.read_to_string(&mut answer).await;
            answer
        }
    }

    const HALF: &str = "GET / HTTP/1.1\r\nhost";

    #[tokio::test]
    async fn half_sent_requests_do_not_stop_the_probes() {
        let site = site(PATIENT).await;
        let mut held = Vec::new();
        for _ in 0..PATIENT.most {
            held.push(site.holding(HALF).await);
        }
        // Ten times the whole server, and the reserve with it.
        for _ in 0..10 * PATIENT.most {
            held.push(site.holding(HALF).await);
            let probe = site.get("/health/live").await;
            assert!(probe.starts_with("HTTP/1.1 200"), "{probe}");
        }
        let page = site.get("/").await;
        assert!(page.starts_with("HTTP/1.1 503"), "{page}");
        let lower = page.to_lowercase();
        assert!(lower.contains("retry-after: 5"), "{page}");
        assert!(lower.contains("connection: close"), "{page}");
        assert!(page.contains("urn:swe-ci:problem:busy"), "{page}");
        // Those within the limit are still served.
        held[0].write_all(b": x\r\n\r\n").await.unwrap();
        let mut start = [0; 12];
        held[0].read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
        // Their places are free again when they end.
        drop(held);
        while !site.get("/").await.starts_with("HTTP/1.1 200") {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn silent_connections_end() {
        let soon = Duration::from_millis(20);
        let check = async |limits: Limits, sent: &str| {
            let site = site(limits).await;
            let mut answer = Vec::new();
            let mut held = site.holding(sent).await;
            // It returns only when the server closes the connection.
            let _ = held.read_to_end(&mut answer).await;
        };
        let head = Limits {
            head: soon,
            ..PATIENT
        };
        check(head, "").await;
        check(head, HALF).await;
        // Between two requests.
        check(head, "GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let idle = Limits {
            idle: soon,
            ..PATIENT
        };
        check(idle, HALF).await;
        // A body that does not come.
        check(
            idle,
            "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n",
        )
        .await;
        check(idle, "GET /silent HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let reserve = Limits {
            most: 0,
            reserve_head: soon,
            ..PATIENT
        };
        check(reserve, HALF).await;
    }

    #[tokio::test]
    async fn a_stopping_server_closes_its_idle_connections() {
        let site = site(PATIENT).await;
        let mut held = site.holding("GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let mut start = [0; 12];
        held.read_exact(&mut start).await.unwrap();
        site.shutdown.cancel();
        let mut rest = Vec::new();
        let _ = held.read_to_end(&mut rest).await;
        site.server.await.unwrap();
        assert!(TcpStream::connect(site.address).await.is_err());
    }

    #[test]
    fn connections_leave_descriptors_for_the_work() {
        let check = |files: usize, most: usize| {
            assert_eq!(Limits::of_open_files(files).most, most, "{files}");
        };
        check(1, 1);
        check(1_024, 512);
        check(1 << 20, MOST);
        check(usize::MAX, MOST);
    }
}
