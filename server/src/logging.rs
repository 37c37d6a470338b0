//! Logging to stderr; stdout carries only a command's output. Beside it the
//! traces, where they are wanted.

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::config::{GlobalOptions, LogFormat};
use crate::traces::Traces;

/// `default` is the filter unless the options name one.
pub(crate) fn init(options: &GlobalOptions, default: &str, traces: Option<&Traces>) {
    // The configuration has validated the filter.
    let filter = EnvFilter::new(options.log.as_deref().unwrap_or(default));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match options.log_format {
        LogFormat::Text if !std::io::stderr().is_terminal() => lines.with_ansi(false).boxed(),
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(traces.map(Traces::layer))
        .init();
}
