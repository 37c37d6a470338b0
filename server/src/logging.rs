//! Log lines: to stderr, so that stdout stays what a command was asked for.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

/// What `serve` logs when nothing else is asked for.
pub(crate) const SERVE: &str = "info";
/// What the other commands log when nothing else is asked for.
pub(crate) const COMMAND: &str = "warn";

pub(crate) fn init(config: &LogConfig, default: &str) {
    // The configuration has parsed it once already.
    let filter = EnvFilter::new(config.filter.as_deref().unwrap_or(default));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Text if !std::io::stderr().is_terminal() => lines.with_ansi(false).init(),
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}
