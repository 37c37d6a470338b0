//! Traces by OpenTelemetry: the spans of requests, evolutions, steps, containers
//! and calls to providers go to a collector, over OTLP (HTTP, protobuf). Nothing
//! is sent unless an endpoint is given.
//!
//! The exporter reads the standard `OTEL_…` variables itself: headers, timeout,
//! sampler, the service's name and attributes. Spans tell what the log may tell:
//! no conversation, no key.

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::Key;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;
use url::Url;

/// The service's name, unless `OTEL_SERVICE_NAME` says another.
const SERVICE: &str = "swe-ci";
/// Our own spans: their targets begin so. Those of libraries would drown them.
const OURS: &str = "swe_ci";
/// How long an ending process waits for the collector.
const LAST_CALL: Duration = Duration::from_secs(2);
/// A collector's answer is read so far; it is a few bytes.
const MAX_ANSWER: usize = 64 << 10;

/// What collects the spans of this process and sends them in batches.
#[derive(Debug)]
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// `endpoint` is the collector's base address; `/v1/traces` is added to its
    /// path, as the specification of OTLP asks.
    ///
    /// # Errors
    /// When a variable of the exporter is invalid.
    pub fn to(endpoint: &Url, runtime: &Handle) -> Result<Self, String> {
        let base = endpoint.as_str().trim_end_matches('/');
        let client = swe_ci_engine::http_client().build();
        let collector = Collector {
            client: client.map_err(|error| format!("traces cannot be sent: {error}"))?,
            runtime: runtime.clone(),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_endpoint(format!("{base}/v1/traces"))
            .build()
            .map_err(|error| format!("traces cannot be sent: {error}"))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        Ok(Self(provider))
    }

    /// The layer that turns our spans into theirs.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let filter = Targets::new().with_target(OURS, LevelFilter::DEBUG);
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter)
    }

    /// Sends what is left. Blocks, for two seconds at most.
    pub fn end(self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_CALL) {
            tracing::debug!("the last spans were not sent: {error:#}");
        }
    }
}

/// What the environment says of this service; its name is ours if it says none.
fn resource() -> Resource {
    let found = Resource::builder();
    let name = Resource::builder().build().get(&Key::from("service.name"));
    let unnamed = name.is_none_or(|name| name.as_str().starts_with("unknown_service"));
    match unnamed {
        true => found.with_service_name(SERVICE).build(),
        false => found.build(),
    }
}

/// Sends batches on the program's runtime: the exporter's own thread has none.
#[derive(Debug)]
struct Collector {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let sent = send(self.client.clone(), request);
        Ok(self.runtime.spawn(sent).await??)
    }
}

async fn send(
    client: reqwest::Client,
    request: reqwest::Request,
) -> Result<Response<Bytes>, reqwest::Error> {
    let mut answer = client.execute(request).await?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        let free = MAX_ANSWER.saturating_sub(body.len());
        body.extend_from_slice(&piece[..piece.len().min(free)]);
    }
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    Ok(response)
}
