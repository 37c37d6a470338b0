//! A line between the nodes and a service, which can be bad.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How the line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Good,
    /// Every connection ends at once.
    Away,
    /// Each piece of data is so late.
    Slow(Duration),
    /// One piece of data in so many is the last of its connection.
    Torn(u64),
    /// Each connection gets this answer and nothing else.
    Answers(&'static str),
}

/// Gone when dropped.
pub struct Proxy {
    pub address: SocketAddr,
    line: watch::Sender<Line>,
    _accepting: JoinSet<()>,
}

impl Proxy {
    /// Listens at `host` for what is meant for `to`.
    pub async fn start(host: &str, to: SocketAddr) -> Self {
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (line, lines) = watch::channel(Line::Good);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let pieces = Arc::new(AtomicU64::new(0));
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(serve(client, to, lines.clone(), Arc::clone(&pieces)));
            }
        });
        Self {
            address,
            line,
            _accepting: accepting,
        }
    }

    /// Changes the line. Connections of before end with it.
    pub fn set(&self, line: Line) {
        self.line.send_replace(line);
    }
}

async fn serve(
    mut client: TcpStream,
    to: SocketAddr,
    mut lines: watch::Receiver<Line>,
    pieces: Arc<AtomicU64>,
) {
    let line = *lines.borrow_and_update();
    match line {
        Line::Away => {}
        Line::Answers(answer) => {
            // The question is read first: an unread one would make a reset of the end.
            let mut question = vec![0; 64 * 1024];
            let _ = client.read(&mut question).await;
            let _ = client.write_all(answer.as_bytes()).await;
            let _ = client.shutdown().await;
        }
        Line::Good | Line::Slow(_) | Line::Torn(_) => {
            let Ok(mut service) = TcpStream::connect(to).await else {
                return;
            };
            let (from_client, to_client) = client.split();
            let (from_service, to_service) = service.split();
            tokio::select! {
                _ = lines.changed() => {}
                () = pass(from_client, to_service, line, &pieces) => {}
                () = pass(from_service, to_client, line, &pieces) => {}
            }
        }
    }
}

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    line: Line,
    pieces: &AtomicU64,
) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let number = pieces.fetch_add(1, Ordering::Relaxed);
        match line {
            Line::Slow(late) => tokio::time::sleep(late).await,
            Line::Torn(one_in) if number % one_in == one_in - 1 => return,
            _ => {}
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
