//! Applies events to the data of the page.

use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_views::event::{RunEvent, What};
use swe_ci_views::view::{CurrentStep, EvolutionView, IterationView, RunDetail};

/// Updates the run. Applying an event twice, or one that the rows already
/// contain, changes nothing; so after a lost connection the page fetches the
/// rows and applies the events since then again.
pub(super) fn apply(run: &mut RunDetail, event: &RunEvent) {
    if event.run_id != run.summary.run_id {
        return;
    }
    match &event.what {
        What::Run { progress } => run.summary.progress = *progress,
        What::Steered { steering } => run.summary.steering = *steering,
        What::Preflight { preflight } => run.preflight = Some(preflight.clone()),
        What::Queued { evolution_id } => {
            if let Some(evolution) = find(run, evolution_id) {
                evolution.progress = Progress::Queued;
                evolution.ending = None;
                evolution.reason = None;
                evolution.current = None;
            }
        }
        What::Step {
            evolution_id,
            iteration,
            role,
            attempt,
        } => {
            let going_on = find(run, evolution_id).filter(|e| e.ending.is_none());
            if let Some(evolution) = going_on {
                evolution.progress = Progress::Running;
                evolution.current = Some(CurrentStep {
                    iteration: *iteration,
                    role: *role,
                    attempt: *attempt,
                    waiting: None,
                });
            }
        }
        What::Waiting {
            evolution_id,
            waiting,
        } => {
            if let Some(step) = find(run, evolution_id).and_then(|e| e.current.as_mut()) {
                step.waiting.clone_from(waiting);
            }
        }
        What::Host { load } => run.host = Some(*load),
        What::Iteration {
            evolution_id,
            iteration,
        } => {
            if let Some(evolution) = find(run, evolution_id) {
                put(&mut evolution.iterations, iteration.clone());
                evolution.current = None;
            }
        }
        What::Ended {
            evolution_id,
            ending,
            reason,
        } => {
            if let Some(evolution) = find(run, evolution_id) {
                end(evolution, *ending, reason.clone());
            }
        }
        What::Log { .. } => return,
    }
    count(run);
}

fn find<'a>(run: &'a mut RunDetail, id: &str) -> Option<&'a mut EvolutionView> {
    run.evolution_list.iter_mut().find(|e| e.evolution_id == id)
}

fn put(iterations: &mut Vec<IterationView>, iteration: IterationView) {
    match iterations.binary_search_by_key(&iteration.iteration, |i| i.iteration) {
        Ok(at) => iterations[at] = iteration,
        Err(at) => iterations.insert(at, iteration),
    }
}

fn end(evolution: &mut EvolutionView, ending: Ending, reason: Option<String>) {
    evolution.progress = match ending {
        Ending::Cancelled => Progress::Cancelled,
        _ => Progress::Finished,
    };
    evolution.ending = Some(ending);
    evolution.reason = reason;
    evolution.current = None;
}

/// The totals of the summary, from the evolutions.
fn count(run: &mut RunDetail) {
    let evolutions = &run.evolution_list;
    let many = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let summary = &mut run.summary;
    summary.evolutions_over = many(evolutions.iter().filter(|e| e.progress.is_over()).count());
    let blocked = evolutions
        .iter()
        .filter(|e| e.ending == Some(Ending::Blocked));
    summary.evolutions_blocked = many(blocked.count());
    summary.iterations = evolutions.iter().map(|e| many(e.iterations.len())).sum();
    let begun = evolutions.iter().any(|e| e.progress != Progress::Queued);
    if begun && summary.progress == Progress::Queued {
        summary.progress = Progress::Running;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::run::RunConfig;
    use swe_ci_core::step::Role;
    use swe_ci_plots::fixture::{evolution, iteration, scored};
    use swe_ci_views::account::Visibility;
    use swe_ci_views::steering::Steering;
    use swe_ci_views::view::{Provenance, ProviderWait, RunSummary};

    fn queued() -> RunDetail {
        let mut first = evolution(&[]);
        first.progress = Progress::Queued;
        let mut second = first.clone();
        second.evolution_id = "e2".into();
        RunDetail {
            may_steer: false,
            unranked: None,
            verified: None,
            verification: None,
            preflight: None,
            summary: RunSummary {
                run_id: "r".into(),
                config: RunConfig::human("demo"),
                visibility: Visibility::Public,
                withdrawn: None,
                mark: None,
                progress: Progress::Queued,
                steering: Steering::default(),
                created_at: "2026-11-20T14:00:00Z".into(),
                started_at: None,
                finished_at: None,
                evolutions: 2,
                evolutions_over: 0,
                evolutions_blocked: 0,
                iterations: 0,
            },
            provenance: Provenance::default(),
            spent: None,
            eta_seconds: None,
            host: None,
            evolution_list: vec![first, second],
        }
    }

    fn event(what: What) -> RunEvent {
        RunEvent {
            seq: 1,
            run_id: "r".into(),
            what,
        }
    }

    fn step(iteration: u32, role: Role) -> RunEvent {
        event(What::Step {
            evolution_id: "e1".into(),
            iteration,
            role,
            attempt: 1,
        })
    }

    fn tested(number: u32, in_target: u32) -> RunEvent {
        let iteration = iteration(number, scored(in_target, 0));
        event(What::Iteration {
            evolution_id: "e1".into(),
            iteration,
        })
    }

    fn ended(id: &str, ending: Ending) -> RunEvent {
        event(What::Ended {
            evolution_id: id.into(),
            ending,
            reason: None,
        })
    }

    #[test]
    fn a_provider_that_is_waited_for() {
        let mut run = queued();
        let waits = |waiting| {
            event(What::Waiting {
                evolution_id: "e1".into(),
                waiting,
            })
        };
        let wait = ProviderWait {
            since: "2026-11-20T14:00:00Z".into(),
            why: "HTTP 429: slow down".into(),
        };
        let seen = |run: &RunDetail| run.evolution_list[0].current.clone()?.waiting;
        // Events for unknown steps are ignored.
        apply(&mut run, &waits(Some(wait.clone())));
        assert_eq!(seen(&run), None);
        apply(&mut run, &step(1, Role::Architect));
        apply(&mut run, &waits(Some(wait.clone())));
        assert_eq!(seen(&run), Some(wait.clone()));
        apply(&mut run, &waits(None));
        assert_eq!(seen(&run), None);
        apply(&mut run, &waits(Some(wait)));
        apply(&mut run, &step(1, Role::Programmer));
        assert_eq!(seen(&run), None, "the next step waits for nothing yet");
    }

    #[test]
    fn a_run_as_it_happens() {
        let mut run = queued();
        apply(&mut run, &step(1, Role::Architect));
        assert_eq!(run.summary.progress, Progress::Running);
        assert_eq!(
            run.evolution_list[0].current.as_ref().map(|c| c.role),
            Some(Role::Architect)
        );

        apply(&mut run, &tested(1, 15));
        assert_eq!(
            (
                run.summary.iterations,
                run.evolution_list[0].current.clone()
            ),
            (1, None)
        );

        apply(&mut run, &ended("e1", Ending::Solved));
        apply(&mut run, &ended("e2", Ending::Blocked));
        let sums = (run.summary.evolutions_over, run.summary.evolutions_blocked);
        assert_eq!(sums, (2, 1));

        apply(
            &mut run,
            &event(What::Run {
                progress: Progress::Finished,
            }),
        );
        assert!(run.summary.progress.is_over());
    }

    #[test]
    fn events_may_be_applied_again() {
        let story = [
            step(1, Role::Test),
            tested(1, 15),
            step(2, Role::Test),
            tested(2, 20),
            ended("e1", Ending::Solved),
        ];
        let mut once = queued();
        story.iter().for_each(|e| apply(&mut once, e));
        let mut twice = once.clone();
        story.iter().for_each(|e| apply(&mut twice, e));
        assert_eq!(once, twice);
    }

    #[test]
    fn what_was_blocked_waits_again() {
        let mut run = queued();
        apply(&mut run, &step(1, Role::Architect));
        apply(&mut run, &ended("e1", Ending::Blocked));
        assert_eq!(run.summary.evolutions_blocked, 1);
        let again = What::Queued {
            evolution_id: "e1".into(),
        };
        apply(&mut run, &event(again));
        let first = &run.evolution_list[0];
        assert_eq!((first.progress, first.ending), (Progress::Queued, None));
        let sums = (run.summary.evolutions_over, run.summary.evolutions_blocked);
        assert_eq!(sums, (0, 0));
    }

    #[test]
    fn how_it_is_steered_is_shown() {
        let mut run = queued();
        let steering = Steering {
            paused: true,
            at_once: Some(2),
            ..Steering::default()
        };
        apply(&mut run, &event(What::Steered { steering }));
        assert_eq!(run.summary.steering, steering);
    }

    #[test]
    fn iterations_stay_in_order() {
        let mut run = queued();
        for number in [3, 1, 2, 1] {
            apply(&mut run, &tested(number, 10 + number));
        }
        let numbers: Vec<u32> = run.evolution_list[0]
            .iterations
            .iter()
            .map(|i| i.iteration)
            .collect();
        assert_eq!(numbers, [1, 2, 3]);
    }

    #[test]
    fn strangers_change_nothing() {
        let mut run = queued();
        let mut other = step(1, Role::Test);
        other.run_id = "another".into();
        apply(&mut run, &other);
        apply(&mut run, &ended("unknown", Ending::Solved));
        let line = What::Log {
            evolution_id: "e1".into(),
            role: Role::Test,
            line: "x".into(),
        };
        apply(&mut run, &event(line));
        assert_eq!(run, queued());
    }
}
