//! An OpenTelemetry collector that keeps what it gets.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

type Spans = Arc<Mutex<Vec<Span>>>;

pub struct Collector {
    pub url: String,
    spans: Spans,
}

impl Collector {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let spans = Spans::default();
        let router = Router::new()
            .route("/v1/traces", post(keep))
            .with_state(spans.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, spans }
    }

    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }
}

async fn keep(State(spans): State<Spans>, body: Bytes) -> StatusCode {
    let Ok(request) = ExportTraceServiceRequest::decode(body) else {
        return StatusCode::BAD_REQUEST;
    };
    let scopes = request.resource_spans.into_iter();
    let scopes = scopes.flat_map(|resource| resource.scope_spans);
    spans
        .lock()
        .unwrap()
        .extend(scopes.flat_map(|scope| scope.spans));
    StatusCode::OK
}

/// The names of the spans that a span is within, the nearest first.
pub fn within(spans: &[Span], span: &Span) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = span;
    while let Some(parent) = spans
        .iter()
        .find(|other| other.trace_id == at.trace_id && other.span_id == at.parent_span_id)
    {
        names.push(parent.name.clone());
        at = parent;
    }
    names
}

/// An attribute's value as text.
pub fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|pair| pair.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        Value::BoolValue(yes) => Some(yes.to_string()),
        other => Some(format!("{other:?}")),
    }
}
