//! The HTTP client for identity providers, with limits on time and size.

use std::pin::Pin;
use std::time::Duration;

use anyhow::Context;
use openidconnect::core::CoreErrorResponseType;
use openidconnect::{
    AsyncHttpClient, HttpRequest, HttpResponse, RequestTokenError, StandardErrorResponse,
};

use super::types::ProviderError;

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);

/// The largest response in bytes; key sets are the largest ones.
const MOST_BYTES: usize = 256 << 10;

/// The HTTP client for providers. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Client(reqwest::Client);

#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    /// Without the URL, which may contain a secret.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error("the response is larger than {MOST_BYTES} bytes")]
    TooLarge,
}

type Answer<'c> = Pin<Box<dyn Future<Output = Result<HttpResponse, ClientError>> + Send + 'c>>;

impl Client {
    pub(super) fn new() -> anyhow::Result<Self> {
        Self::with_time_limit(ANSWER)
    }

    /// `patience` limits the time for a whole response.
    fn with_time_limit(patience: Duration) -> anyhow::Result<Self> {
        let client = swe_ci_engine::http_client()
            // A redirect would carry the secret to its target.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .timeout(patience)
            .user_agent("swe-ci");
        let client = client.build().context("cannot make an HTTP client")?;
        Ok(Self(client))
    }

    pub(super) async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ClientError> {
        let nameless = |error: reqwest::Error| ClientError::Http(error.without_url());
        let request = reqwest::Request::try_from(request).map_err(nameless)?;
        let mut response = self.0.execute(request).await.map_err(nameless)?;
        let mut answer = HttpResponse::new(Vec::new());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = response.headers().clone();
        while let Some(piece) = response.chunk().await.map_err(nameless)? {
            if answer.body().len() + piece.len() > MOST_BYTES {
                return Err(ClientError::TooLarge);
            }
            answer.body_mut().extend_from_slice(&piece);
        }
        Ok(answer)
    }
}

impl<'c> AsyncHttpClient<'c> for Client {
    type Error = ClientError;
    type Future = Answer<'c>;

    fn call(&'c self, request: HttpRequest) -> Answer<'c> {
        Box::pin(self.send(request))
    }
}

impl From<ClientError> for ProviderError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Http(_) => Self::Unreachable(format!("{:#}", anyhow::Error::new(error))),
            _ => Self::Unverified(error.to_string()),
        }
    }
}

/// Why the provider returned no token for a code. The text includes only
/// standard error codes: the response may contain tokens.
pub(super) fn code_error(
    error: RequestTokenError<ClientError, StandardErrorResponse<CoreErrorResponseType>>,
) -> ProviderError {
    match error {
        RequestTokenError::Request(error) => error.into(),
        RequestTokenError::ServerResponse(response) => ProviderError::Unverified(format!(
            "the provider returned no token for the code: {}",
            response.error()
        )),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            ProviderError::Unverified("the response to the code contains no token".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::Router;
    use axum::http::Request;
    use axum::response::Redirect;
    use axum::routing::get;

    use super::*;

    /// A misbehaving provider.
    async fn provider() -> SocketAddr {
        let router = Router::new()
            .route("/good", get(|| async { "yes" }))
            .route("/large", get(|| async { "x".repeat(MOST_BYTES + 1) }))
            .route("/full", get(|| async { "x".repeat(MOST_BYTES) }))
            .route("/elsewhere", get(|| async { Redirect::to("/good") }))
            .route("/slow", get(std::future::pending::<()>));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async { axum::serve(listener, router).await });
        address
    }

    #[tokio::test]
    async fn slow_providers_and_redirects_are_refused() {
        let at = provider().await;
        let client = Client::with_time_limit(Duration::from_millis(500)).unwrap();
        let ask = async |path: &str| {
            let request = Request::get(format!("http://{at}{path}")).body(Vec::new());
            let answer = client.send(request.unwrap()).await;
            answer.map(|answer| (answer.status().as_u16(), answer.into_body().len()))
        };
        assert_eq!(ask("/good").await.unwrap(), (200, 3));
        assert_eq!(ask("/full").await.unwrap(), (200, MOST_BYTES));
        assert_eq!(ask("/elsewhere").await.unwrap(), (303, 0));
        let large = ProviderError::from(ask("/large").await.unwrap_err());
        assert!(matches!(large, ProviderError::Unverified(_)), "{large}");
        let slow = ProviderError::from(ask("/slow?code=secret").await.unwrap_err());
        assert!(
            matches!(&slow, ProviderError::Unreachable(why) if !why.contains("secret")),
            "{slow}"
        );
    }
}
