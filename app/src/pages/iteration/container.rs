//! The container of an attempt: its exit and, folded, its image and limits.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::container::{Container, ContainerLimits};

use crate::components::{Tag, Tone};
use crate::format;

#[component]
pub(super) fn ContainerFacts(container: Container) -> impl IntoView {
    let killed = container
        .out_of_memory
        .then(|| view! { <Tag text="Out of memory".to_owned() tone=Tone::Bad hint="The kernel killed a process in it because memory ran out.".to_owned()/> });
    let exit = match container.exit_code {
        Some(code) => format!("exit {code}"),
        None => "no exit code".to_owned(),
    };
    let name = container.image_name.map(|name| {
        let name = visible(&name).into_owned();
        view! { <div><dt>"Image"</dt><dd><code>{name}</code></dd></div> }
    });
    let limits = limits(container.limits);
    view! {
        {killed}
        <details class="container-facts">
            <summary>{exit}</summary>
            <dl>
                {name}
                <div><dt>"Digest"</dt><dd><code>{container.image}</code></dd></div>
                <div><dt>"Limits"</dt><dd>{limits}</dd></div>
                <div><dt>"Commands took"</dt><dd>{format::seconds(container.seconds)}</dd></div>
            </dl>
        </details>
    }
}

/// "2 processors, 4096 MiB memory, 1024 processes, 4096 MiB written, 1 h".
fn limits(limits: ContainerLimits) -> String {
    let processors = f64::from(limits.cpus_milli) / 1e3;
    let noun = match limits.cpus_milli {
        1_000 => "processor",
        _ => "processors",
    };
    format!(
        "{processors} {noun}, {} MiB of memory, {} processes, {} MiB written, {}",
        format::thousands(limits.memory_mb),
        format::thousands(limits.pids),
        format::thousands(limits.disk_mb),
        format::seconds(f64::from(limits.seconds)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_in_words() {
        let check = |cpus_milli, expect: &str| {
            let words = limits(ContainerLimits {
                cpus_milli,
                memory_mb: 4_096,
                pids: 1_024,
                disk_mb: 16_384,
                seconds: 90,
            });
            assert_eq!(words, expect);
        };
        check(
            1_500,
            "1.5 processors, 4096 MiB of memory, 1024 processes, 16\u{202f}384 MiB written, 1 min 30 s",
        );
        check(
            1_000,
            "1 processor, 4096 MiB of memory, 1024 processes, 16\u{202f}384 MiB written, 1 min 30 s",
        );
    }
}
