//! Logging to stderr; stdout carries only a command's output.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{GlobalOptions, LogFormat};

/// `default` is the filter unless the options name one.
pub(crate) fn init(options: &GlobalOptions, default: &str) {
    // The configuration has validated the filter.
    let filter = EnvFilter::new(options.log.as_deref().unwrap_or(default));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match options.log_format {
        LogFormat::Text if !std::io::stderr().is_terminal() => lines.with_ansi(false).init(),
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}
