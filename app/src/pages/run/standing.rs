//! What holds a run up, in words: that it is paused, that its provider is
//! waited for, that the machine is short of something, and why evolutions were
//! stopped that nothing the agent did has stopped.

use leptos::prelude::*;
use swe_ci_core::host::{HostLoad, Shortage};
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_core::view::{EvolutionView, ProviderWait, RunDetail};

use crate::components::{Tag, Time, Tone};
use crate::format;

/// Beside the run's progress, while it is paused.
#[component]
pub(super) fn Paused(detail: RwSignal<RunDetail>) -> impl IntoView {
    let paused = Memo::new(move |_| {
        detail.with(|d| d.summary.steering.paused && !d.summary.progress.is_over())
    });
    move || {
        paused.get().then(|| {
            let hint = "Nothing of it is begun until whoever steers it resumes it";
            view! { <Tag text="paused".to_owned() tone=Tone::Warn hint/> }
        })
    }
}

/// Why a run was taken back, for those who still see it.
#[component]
pub(super) fn TakenBack(withdrawn: Option<String>) -> impl IntoView {
    withdrawn.map(|why| {
        view! { <p class="note" data-tone="warn">"Taken back: "{sentence(why)}</p> }
    })
}

/// How many evolutions of it may be at work at the same time, where that was
/// said.
#[component]
pub(super) fn AtOnce(detail: RwSignal<RunDetail>) -> impl IntoView {
    let at_once = Memo::new(move |_| detail.with(|d| d.summary.steering.at_once));
    move || {
        let most = at_once.get()?;
        Some(view! { <div><dt>"At the same time"</dt><dd>{format!("at most {most}")}</dd></div> })
    }
}

/// How long it will still take, as far as one can tell.
#[component]
pub(super) fn Remaining(detail: RwSignal<RunDetail>) -> impl IntoView {
    let remaining = Memo::new(move |_| {
        detail.with(|d| {
            d.eta_seconds
                .filter(|_| !d.summary.steering.paused && !d.summary.progress.is_over())
        })
    });
    move || {
        let text = format!("about {}", format::seconds(remaining.get()?));
        let hint = "If the rest goes on at the pace of the evolutions that are over";
        Some(view! { <div><dt>"Still to go"</dt><dd title=hint>{text}</dd></div> })
    }
}

/// How busy the machine is that works on it, and what it is short of.
#[component]
pub(super) fn Machine(detail: RwSignal<RunDetail>) -> impl IntoView {
    let host = Memo::new(move |_| {
        detail.with(|d| d.host.filter(|_| d.summary.progress == Progress::Running))
    });
    move || {
        let host = host.get()?;
        let short = host.shortage().map(|shortage| {
            let (text, hint) = shortage_in_words(shortage);
            view! { " " <Tag text=text.to_owned() tone=Tone::Warn hint/> }
        });
        let hint = "Processes that want to run, on average over a minute; memory in use; room for the data folder";
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
            "Steps will fail once it is full: make room for the data folder",
        ),
        Shortage::Memory => (
            "little memory",
            "More than nine tenths are in use: steps may be ended for want of memory",
        ),
        Shortage::Cores => (
            "busy",
            "Twice as much wants to run as can: suites may come to their time limits",
        ),
    }
}

/// That the step at work waits for its model's provider.
#[component]
pub(super) fn Waiting(evolution: Memo<EvolutionView>) -> impl IntoView {
    let waiting = Memo::new(move |_| evolution.with(|e| e.current.clone()?.waiting));
    move || {
        let ProviderWait { since, why } = waiting.get()?;
        let why = match why.is_empty() {
            true => "others of its requests come first.".to_owned(),
            false => sentence(why),
        };
        Some(view! {
            <p class="note" data-tone="warn">
                "The provider is waited for, since "
                <Time at=Some(since)/>
                ": "
                {why}
                " The agent is not charged for the time."
            </p>
        })
    }
}

/// Why an evolution was stopped, and where its attempts and what they printed
/// can be read.
#[component]
pub(super) fn Stopped(evolution: Memo<EvolutionView>, run_id: String) -> impl IntoView {
    let told = Memo::new(move |_| evolution.with(told));
    move || {
        let Told {
            says,
            reason,
            iteration,
        } = told.get()?;
        let log = iteration.map(|n| {
            let href =
                evolution.with_untracked(|e| format!("/runs/{run_id}/{}/{n}", e.evolution_id));
            view! { " " <a href=href>"Its attempts, with what they printed"</a> }
        });
        Some(view! { <p class="note">{says.map(|says| format!("{says} "))}{reason}{log}</p> })
    }
}

/// What is said of how an evolution ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Told {
    says: Option<&'static str>,
    /// As it was recorded.
    reason: String,
    /// The iteration it did not come to test.
    iteration: Option<u32>,
}

fn told(evolution: &EvolutionView) -> Option<Told> {
    let says = match evolution.ending {
        Some(Ending::Blocked) => Some(
            "Blocked: a step failed as often as it may be tried, through the platform or the model's provider and nothing the agent did. Last it was:",
        ),
        Some(Ending::BudgetSpent) => Some("Stopped where it was:"),
        _ => None,
    };
    let reason = evolution.reason.clone().unwrap_or_default();
    if says.is_none() && reason.is_empty() {
        return None;
    }
    let tested = u32::try_from(evolution.iterations.len()).unwrap_or(u32::MAX);
    Some(Told {
        iteration: says.map(|_| tested.saturating_add(1)),
        reason: sentence(reason),
        says,
    })
}

/// With a full stop at its end.
fn sentence(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plots::fixture::{evolution, scored};

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
            let found = told(&seen);
            assert_eq!(found.as_ref().and_then(|told| told.iteration), iteration);
            let text = found.map(|told| told.says.unwrap_or_default().to_owned() + &told.reason);
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
            Some("Last it was:the container is gone."),
        );
        check(
            Some(Ending::Blocked),
            None,
            Some(2),
            Some("nothing the agent did"),
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
