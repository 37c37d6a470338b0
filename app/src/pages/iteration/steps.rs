//! The outcome and usage of steps: a row for each attempt.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::text::visible;
use swe_ci_core::usage::Traffic;
use swe_ci_views::container::{Container, ContainerLimits};
use swe_ci_views::conversation::RecordingFormat;
use swe_ci_views::view::{Spent, StepView};

use crate::components::CollectAny;
use crate::components::{Tag, Tone, fact};
use crate::pages::routes::conversation_href;
use crate::{format, labels};

/// Which columns have data; empty ones are left out.
#[derive(Debug, Clone, Copy)]
struct Known {
    time: bool,
    tokens: bool,
    requests: bool,
    cost: bool,
    recorded: bool,
    container: bool,
    detail: bool,
}

impl Known {
    fn of(steps: &[StepView], imported: bool) -> Self {
        let any = |knows: fn(&StepView) -> bool| steps.iter().any(knows);
        Self {
            time: !imported || any(|step| step.seconds > 0.0),
            tokens: any(|step| step.usage.is_some()),
            requests: any(|step| step.traffic.is_some()),
            cost: any(|step| step.traffic.is_some_and(|t| t.micro_usd.is_some())),
            recorded: any(|step| step.recording.is_some()),
            container: any(|step| step.container.is_some()),
            detail: any(|step| !step.detail.is_empty()),
        }
    }
}

/// "Architect 41 s · programmer 3 min 32 s · 12 345 in · 678 out · $0.84".
pub(super) fn in_short(steps: &[StepView]) -> String {
    let took = |role: Role| {
        let steps = steps.iter().filter(|step| step.role == role);
        let seconds: f64 = steps.map(|step| step.seconds).sum();
        (seconds > 0.0).then(|| format!("{} {}", role.name(), format::seconds(seconds)))
    };
    let [architect, programmer, test] = [Role::Architect, Role::Programmer, Role::Test].map(took);
    let spent = Spent::of(steps);
    let traffic = spent.and_then(|spent| spent.traffic);
    let cost = traffic.and_then(|traffic| traffic.micro_usd);
    let tokens = spent.map(|spent| labels::tokens(spent.usage));
    let parts = [
        architect,
        programmer,
        test,
        tokens,
        cost.map(format::dollars),
    ];
    match labels::joined(parts) {
        none if none.is_empty() => "Attempts and logs".to_owned(),
        parts => format::capital(&parts),
    }
}

/// A link to the last transcript of the programmer.
pub(super) fn transcript(
    steps: &[StepView],
    run_id: &str,
    evolution_id: &str,
) -> Option<impl IntoView + use<>> {
    let is_told = |step: &&StepView| step.role == Role::Programmer && step.recording.is_some();
    let step = steps.iter().rfind(is_told)?;
    let href = conversation_href(
        run_id,
        evolution_id,
        step.iteration,
        step.role,
        step.attempt,
    );
    Some(view! { <a class="button" href=href>"Transcript of the programmer"</a> })
}

#[component]
pub(in crate::pages) fn Steps(
    steps: Vec<StepView>,
    run_id: String,
    evolution_id: String,
    imported: bool,
) -> impl IntoView {
    if steps.is_empty() {
        return Either::Left(view! { <p class="quiet">"None were recorded."</p> });
    }
    let known = Known::of(&steps, imported);
    let head = |shown: bool, name: &'static str| {
        shown.then(|| view! { <th role="columnheader" scope="col" class="number">{name}</th> })
    };
    let row = |step| {
        view! { <Row step run_id=run_id.clone() evolution_id=evolution_id.clone() known/> }
    };
    let rows = steps.into_iter().map(row).collect_any();
    Either::Right(view! {
        <div class="table-frame" tabindex="0" role="region" aria-label="Usage of each step">
            <table class="list cards steps" role="table">
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">"Step"</th>
                        <th role="columnheader" scope="col">"Outcome"</th>
                        {head(known.time, "Time")}
                        {head(known.tokens, "Tokens")}
                        {head(known.requests, "Requests")}
                        {head(known.cost, "Cost")}
                        {known.recorded.then(|| view! { <th role="columnheader" scope="col">"Recording"</th> })}
                        {known.container.then(|| view! { <th role="columnheader" scope="col">"Container"</th> })}
                        {known.detail.then(|| view! { <th role="columnheader" scope="col">"Detail"</th> })}
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </div>
    })
}

#[component]
fn Row(step: StepView, run_id: String, evolution_id: String, known: Known) -> impl IntoView {
    let (word, tone) = labels::outcome(step.outcome);
    let time = Some((format::seconds(step.seconds), step.traffic.and_then(waited)));
    let tokens = step.usage;
    let tokens = tokens.map(|usage| (labels::tokens(usage), labels::tokens_within(usage)));
    let requests = step
        .traffic
        .map(|traffic| (format::thousands(traffic.requests), about_requests(traffic)));
    let cost = step.traffic.and_then(|traffic| traffic.micro_usd);
    let cost = cost.map(|cost| (format::dollars(cost), None));
    let recording = known.recorded.then(|| {
        // The repetition of an interrupted attempt replaces its files.
        let format = step
            .recording
            .filter(|_| step.outcome != StepOutcome::Interrupted);
        let links = format
            .map(|format| view! { <Recording step=step.clone() format run_id evolution_id/> });
        view! { <td role="cell" class="step-recording" data-label="Recording">{links}</td> }
    });
    let container = known.container.then(|| {
        let facts = step.container.clone();
        let facts = facts.map(|container| view! { <ContainerFacts container/> });
        view! { <td role="cell" class="step-container" data-label="Container">{facts}</td> }
    });
    let truncation = step.truncation.map(|truncation| {
        let name = truncation.name().replace('_', " ");
        view! { <small>{name}</small> }
    });
    let detail = Some(step.detail.clone()).filter(|detail| !detail.is_empty());
    let detail = known
        .detail
        .then(|| view! { <td role="cell" class="detail">{detail}</td> });
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">
                {step.role.name()}
                <small>{format!("attempt {}", step.attempt)}</small>
            </th>
            <td role="cell"><Tag text=word.to_owned() tone/>{truncation}</td>
            {figure(known.time, "Time", time)}
            {figure(known.tokens, "Tokens", tokens)}
            {figure(known.requests, "Requests", requests)}
            {figure(known.cost, "Cost", cost)}
            {recording}
            {container}
            {detail}
        </tr>
    }
}

/// A figure, and a note below it.
type Figure = (String, Option<String>);

fn figure(shown: bool, label: &'static str, figure: Option<Figure>) -> Option<impl IntoView> {
    shown.then(|| {
        let (text, below) = figure.unwrap_or_else(|| ("–".to_owned(), None));
        let below = below.map(|below| view! { <small>{below}</small> });
        view! { <td role="cell" class="number" data-label=label>{text}{below}</td> }
    })
}

/// "2 retries, 1 probe, 1 of unknown tokens: about 120, not counted".
fn about_requests(traffic: Traffic) -> Option<String> {
    let probes = (traffic.probes > 0).then(|| {
        let cost = Some(traffic.probe_micro_usd).filter(|cost| *cost > 0);
        let cost = cost.map_or(String::new(), |cost| {
            format!(" for {}", format::dollars(cost))
        });
        format!("{}{cost}", format::count(traffic.probes, "probe"))
    });
    let unfinished = (traffic.unfinished > 0).then(|| {
        let about = match traffic.streamed_tokens {
            0 => String::new(),
            about => format!(": about {}, not counted", format::thousands(about)),
        };
        format!("{} of unknown tokens{about}", traffic.unfinished)
    });
    let parts: Vec<String> = [format::retries(traffic.retries), probes, unfinished]
        .into_iter()
        .flatten()
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// "waited 12 s", where the wait is noticeable.
fn waited(traffic: Traffic) -> Option<String> {
    let seconds = traffic.waiting_ms as f64 / 1e3;
    (seconds >= 0.05).then(|| format!("waited {}", format::seconds(seconds)))
}

/// Links to the transcript of the step, as a page and as files.
#[component]
fn Recording(
    step: StepView,
    format: RecordingFormat,
    run_id: String,
    evolution_id: String,
) -> impl IntoView {
    let (iteration, role, attempt) = (step.iteration, step.role.name(), step.attempt);
    let detail = conversation_href(&run_id, &evolution_id, iteration, step.role, attempt);
    let label = format!("Read the transcript of the {role}, attempt {attempt}");
    let link = |format: &'static str, name: &'static str| {
        let href = format!(
            "/api/v1/evolutions/{evolution_id}/iterations/{iteration}/{role}/trajectory?attempt={attempt}&format={format}"
        );
        let label = format!("{name}: transcript of the {role}, attempt {attempt}");
        view! { <a href=href download="" aria-label=label>{name}</a> }
    };
    view! {
        <a href=detail aria-label=label>"Read"</a>
        " "
        {(format == RecordingFormat::Exchanges).then(|| link("jsonl", "JSON lines"))}
        " "
        {link("atif", "ATIF")}
    }
}

#[component]
pub(super) fn ContainerFacts(container: Container) -> impl IntoView {
    let killed = container
        .out_of_memory
        .then(|| view! { <Tag text="Out of memory".to_owned() tone=Tone::Bad hint="The kernel killed a process in it because memory ran out.".to_owned()/> });
    let exit = match container.exit_code {
        Some(code) => format!("exit {code}"),
        None => "no exit code".to_owned(),
    };
    let name = container.image_name;
    let name = name.map(|name| {
        fact(
            "Image",
            view! { <code>{visible(&name).into_owned()}</code> },
        )
    });
    let engine = container.engine;
    let engine = engine.map(|engine| fact("Engine", engine.to_string()));
    let limits = limits(container.limits);
    view! {
        {killed}
        <details class="container-facts">
            <summary>{exit}</summary>
            <dl>
                {name}
                <div><dt>"Digest"</dt><dd><code>{container.image}</code></dd></div>
                {engine}
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
    fn what_is_noticed_of_the_way_to_the_model() {
        let check = |retries, waiting_ms, expect: (Option<&str>, Option<&str>)| {
            let traffic = Traffic {
                retries,
                waiting_ms,
                ..Traffic::default()
            };
            let seen = (format::retries(traffic.retries), waited(traffic));
            assert_eq!((seen.0.as_deref(), seen.1.as_deref()), expect);
        };
        check(0, 49, (None, None));
        check(1, 400, (Some("1 retry"), Some("waited 0.4 s")));
        check(
            1_234,
            90_000,
            (Some("1234 retries"), Some("waited 1 min 30 s")),
        );
    }

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
