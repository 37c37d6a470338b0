//! Why a run is not progressing, in words: it waits for its provider, the machine is short of a resource, or evolutions stopped for
//! reasons other than the agent.

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_views::host::{HostLoad, Shortage};
use swe_ci_views::preflight::{Finding, PreflightState};
use swe_ci_views::view::{EvolutionView, ProviderWait, RunDetail};
use swe_ci_views::workers::unmet_in_words;

use crate::components::CollectAny;
use crate::components::{Tag, Time, Tone, fact};
use crate::format;
use crate::pages::routes::iteration_href;

/// Why a run was withdrawn, for readers who still see it.
#[component]
pub(super) fn Withdrawn(withdrawn: Option<String>) -> impl IntoView {
    withdrawn.map(|why| {
        view! { <p class="note" data-tone="warn">"Withdrawn: "{sentence(why)}</p> }
    })
}

/// The limit on the run's concurrent evolutions, if it has one.
#[component]
pub(super) fn AtOnce(detail: RwSignal<RunDetail>) -> impl IntoView {
    let at_once = Memo::new(move |_| detail.with(|d| d.summary.steering.at_once));
    move || {
        let most = at_once.get();
        most.map(|most| fact("At the same time", format!("at most {most}")))
    }
}

/// An estimate of the remaining time.
#[component]
pub(super) fn Remaining(detail: RwSignal<RunDetail>) -> impl IntoView {
    let remaining = Memo::new(move |_| {
        detail.with(|d| {
            d.eta_seconds
                .filter(|_| !d.summary.steering.paused && !d.summary.progress.is_over())
        })
    });
    move || {
        let text = format!("about {}", format::roughly(remaining.get()?));
        let hint = "If the rest continues at the pace of the finished evolutions";
        Some(view! { <div><dt>"Remaining"</dt><dd title=hint>{text}</dd></div> })
    }
}

/// No worker may take the run's queued evolutions.
#[component]
pub(super) fn WithoutWorker(detail: RwSignal<RunDetail>) -> impl IntoView {
    let unmet = Memo::new(move |_| detail.with(|d| d.unmet_needs.clone()));
    move || {
        let waits = unmet_in_words(&unmet.get()?);
        Some(view! { <p class="note" data-tone="warn" role="status">"This run "{waits}"."</p> })
    }
}

/// The load of the machine that works on the run, and the resources it lacks.
#[component]
pub(super) fn Machine(detail: RwSignal<RunDetail>) -> impl IntoView {
    let host = Memo::new(move |_| {
        detail.with(|d| d.host.filter(|_| d.summary.progress == Progress::Running))
    });
    move || {
        let host = host.get()?;
        let short = host.shortage().map(|shortage| {
            let (text, hint) = shortage_in_words(shortage);
            view! { " " <Tag text tone=Tone::Warn hint/> }
        });
        let hint = "Processes ready to run, averaged over a minute; memory in use; free space for the data folder";
        Some(
            view! { <div><dt>"Machine"</dt><dd title=hint>{host_in_words(&host)}{short}</dd></div> },
        )
    }
}

/// "load 1.4 of 2 cores · 3.1 of 7.8 GiB memory · 51 GiB free".
fn host_in_words(host: &HostLoad) -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    format!(
        "load {} of {} · {} of {} GiB memory · {} GiB free",
        format::decimals(host.load, 1),
        format::count(host.cores, "core"),
        format::decimals(gib(host.memory_used_bytes), 1),
        format::decimals(gib(host.memory_bytes), 1),
        format::thousands(gib(host.disk_free_bytes) as u64),
    )
}

fn shortage_in_words(shortage: Shortage) -> (&'static str, &'static str) {
    match shortage {
        Shortage::Disk => (
            "little disk",
            "Steps will fail once the disk is full: free space for the data folder",
        ),
        Shortage::Memory => (
            "little memory",
            "More than nine tenths are in use: steps may run out of memory",
        ),
        Shortage::Cores => (
            "busy",
            "The load is twice the number of cores: suites may reach their time limits",
        ),
    }
}

/// The current step is waiting for its model, or repeats itself.
#[component]
pub(super) fn Waiting(evolution: Memo<EvolutionView>) -> impl IntoView {
    let waiting = Memo::new(move |_| evolution.with(|e| e.current.clone()?.waiting));
    move || {
        let wait = waiting.get()?;
        let repeats = (wait.repeats > 0).then(|| {
            let calls = format::thousands(wait.repeats);
            view! {
                <p class="note" data-tone="warn">
                    {format!("The agent has repeated its last call {calls} times. It may be in a loop, which costs tokens until a limit ends it: look at its output, or pause the run.")}
                </p>
            }
        });
        if wait.since.is_empty() {
            return Some(EitherOf3::A(repeats));
        }
        if let Some(request) = wait.answering {
            let request = format::thousands(request);
            return Some(EitherOf3::B(view! {
                {repeats}
                <p class="quiet">
                    {format!("The model has been answering request {request} of this step since ")}
                    <Time at=Some(wait.since)/>
                    "."
                </p>
            }));
        }
        let probes = probes(&wait);
        let ProviderWait {
            since,
            why,
            next_try,
            ..
        } = wait;
        let advice = (!why.is_empty()).then_some(
            " It goes on by itself once the provider answers: check the key, the credit and the model there, or pause the run.",
        );
        let why = match why.is_empty() {
            true => "a request has no answer yet.".to_owned(),
            false => sentence(why),
        };
        let next =
            next_try.map(|at| view! { " The provider is asked again at " <Time at=Some(at)/> "." });
        Some(EitherOf3::C(view! {
            {repeats}
            <p class="note" data-tone="warn">
                "Waiting for the provider since "
                <Time at=Some(since)/>
                ": "
                {why}
                {next}
                {advice}
                {probes}
                " The agent's time limit excludes this wait."
            </p>
        }))
    }
}

/// " The platform's own requests in this step: 3 ($0.01)."
fn probes(wait: &ProviderWait) -> Option<String> {
    let cost = Some(wait.probe_micro_usd).filter(|cost| *cost > 0);
    let cost = cost.map_or(String::new(), |cost| {
        format!(" ({})", format::dollars(cost))
    });
    (wait.probes > 0).then(|| {
        format!(
            " The platform's own requests in this step: {}{cost}.",
            wait.probes
        )
    })
}

/// Why an evolution stopped, with a link to its attempts and their output.
#[component]
pub(super) fn Stopped(evolution: Memo<EvolutionView>, run_id: String) -> impl IntoView {
    let stop_notice = Memo::new(move |_| evolution.with(stop_notice));
    move || {
        let notice = stop_notice.get()?;
        let log = notice.iteration.map(|n| {
            let href = evolution.with_untracked(|e| iteration_href(&run_id, &e.evolution_id, n));
            view! { " " <a href=href>"Its attempts and their output"</a> }
        });
        Some(
            view! { <p class="note">{notice.says.map(|says| format!("{says} "))}{notice.reason}{log}</p> },
        )
    }
}

/// How an evolution ended, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct StopNotice {
    says: Option<&'static str>,
    /// As recorded.
    reason: String,
    /// The iteration that it did not get to test.
    iteration: Option<u32>,
}

fn stop_notice(evolution: &EvolutionView) -> Option<StopNotice> {
    let says = match evolution.ending {
        Some(Ending::Blocked) => Some(
            "Blocked: a step used all its attempts because the platform or the model's provider failed, not the agent. The last error:",
        ),
        Some(Ending::BudgetSpent | Ending::EvolutionBudgetSpent) => Some("Stopped:"),
        _ => None,
    };
    let reason = evolution.reason.clone().unwrap_or_default();
    if says.is_none() && reason.is_empty() {
        return None;
    }
    Some(StopNotice {
        iteration: says.map(|_| evolution.iterations.len() as u32 + 1),
        reason: sentence(reason),
        says,
    })
}

/// Adds a full stop.
fn sentence(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// Shown while it blocks the run, with its errors. A success is one quiet line.
#[component]
pub(super) fn PreflightNotice(detail: RwSignal<RunDetail>) -> impl IntoView {
    let preflight = Memo::new(move |_| detail.with(|d| d.summary.preflight.clone()));
    let over = Memo::new(move |_| detail.with(|d| d.summary.progress.is_over()));
    move || {
        let found = preflight.get()?;
        let (says, tone) = match found.state {
            PreflightState::Waiting if over.get() => return None,
            PreflightState::Waiting => (
                "The preflight runs first: its agents on a tiny task, then the quickest of its tasks at both ends. This takes a few minutes; the run starts afterwards.",
                Some("live"),
            ),
            PreflightState::Failed => ("Preflight failed. The run has not started.", Some("bad")),
            PreflightState::Skipped => ("It started without a successful preflight.", None),
            PreflightState::Passed => ("Preflight passed.", None),
        };
        // Those of the attempt before say nothing of this one.
        let findings = match found.state {
            PreflightState::Waiting => Vec::new(),
            _ => found.findings,
        };
        let findings = findings.into_iter().map(line).collect_any();
        Some(view! {
            <section class="note" data-tone=tone aria-labelledby="tried-title" role="status">
                <h2 id="tried-title" class="visually-hidden">"Preflight"</h2>
                <p>{says}" "<span class="quiet"><Time at=Some(found.at)/></span></p>
                <ul>{findings}</ul>
            </section>
        })
    }
}

/// The page of keys, where an advice names it, as a link.
fn linked(advice: &str) -> impl IntoView + use<> {
    const KEYS: &str = "/keys";
    let (before, after) = advice.split_once(KEYS).unwrap_or((advice, ""));
    let link = advice.contains(KEYS);
    let link = link.then(|| view! { <a href=KEYS>{KEYS}</a> });
    (before.to_owned(), link, after.to_owned())
}

fn line(finding: Finding) -> impl IntoView {
    let mark = if finding.good { "✓ " } else { "✗ " };
    let advice = (!finding.advice.is_empty()).then(|| {
        let advice = finding
            .advice
            .into_iter()
            .map(|text| view! { <li>{linked(&text)}</li> });
        view! { <ul>{advice.collect_any()}</ul> }
    });
    let printed = (!finding.last_lines.is_empty()).then(|| {
        view! {
            <details>
                <summary>"Last output"</summary>
                <pre class="log" tabindex="0">{finding.last_lines.join("\n")}</pre>
            </details>
        }
    });
    view! {
        <li>
            <span aria-hidden="true">{mark}</span>
            <strong>{finding.subject}</strong>
            ": "
            {finding.says}
            {advice}
            {printed}
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::{evolution, scored};

    #[test]
    fn a_machine_in_words() {
        let host = HostLoad {
            load: 1.44,
            cores: 2,
            memory_used_bytes: 3 << 30,
            memory_bytes: (8 << 30) - (200 << 20),
            disk_free_bytes: 51 << 30,
        };
        assert_eq!(
            host_in_words(&host),
            "load 1.4 of 2 cores · 3.0 of 7.8 GiB memory · 51 GiB free"
        );
    }

    #[test]
    fn why_it_was_stopped() {
        let check = |ending, reason: Option<&str>, iteration, expect: Option<&str>| {
            let mut seen = evolution(&[scored(12, 0)]);
            seen.ending = ending;
            seen.reason = reason.map(str::to_owned);
            let found = stop_notice(&seen);
            assert_eq!(
                found.as_ref().and_then(|stop_notice| stop_notice.iteration),
                iteration
            );
            let text = found.map(|stop_notice| {
                stop_notice.says.unwrap_or_default().to_owned() + &stop_notice.reason
            });
            match (text, expect) {
                (None, None) => {}
                (Some(text), Some(part)) => assert!(text.contains(part), "{text}"),
                (text, expect) => panic!("{text:?} {expect:?}"),
            }
        };
        check(None, None, None, None);
        check(Some(Ending::Solved), None, None, None);
        let lost = Some("the container is gone");
        check(
            Some(Ending::Blocked),
            lost,
            Some(2),
            Some("The last error:the container is gone."),
        );
        check(
            Some(Ending::Blocked),
            None,
            Some(2),
            Some("failed, not the agent"),
        );
        let spent = Some("the run's budget of 5 tokens is spent");
        check(Some(Ending::BudgetSpent), spent, Some(2), Some("5 tokens"));
        check(
            Some(Ending::AgentGaveUp),
            Some("exit code 3"),
            None,
            Some("exit code 3."),
        );
    }
}
