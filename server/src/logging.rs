//! Logging to stderr; stdout carries only a command's output. Beside it the
//! traces, where they are wanted.

use std::io::IsTerminal;

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{self, FmtContext};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{GlobalOptions, LogFormat};
use crate::traces::Traces;

/// Whether somebody sits at a terminal and has not asked for the log. Such a person
/// gets plain lines about what matters.
pub(crate) fn has_reader(options: &GlobalOptions) -> bool {
    options.log.is_none()
        && options.log_format == LogFormat::Text
        && std::io::stdout().is_terminal()
        && std::io::stderr().is_terminal()
}

/// `default` is the filter unless the options name one.
pub(crate) fn init(options: &GlobalOptions, default: &str, traces: Option<&Traces>) {
    // The configuration has validated the filter.
    let filter = EnvFilter::new(options.log.as_deref().unwrap_or(default));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match options.log_format {
        LogFormat::Text if has_reader(options) => lines.event_format(Plain).boxed(),
        LogFormat::Text if !std::io::stderr().is_terminal() => lines.with_ansi(false).boxed(),
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(traces.map(Traces::layer))
        .init();
}

/// What happened, without times, spans and modules.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let level = event.metadata().level().as_str().to_lowercase();
        write!(writer, "{level}: ")?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
