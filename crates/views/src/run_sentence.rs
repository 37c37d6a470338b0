//! The answer of a run's page: its score and rank, or what keeps it from one, in a
//! few sentences.

use std::collections::BTreeSet;

use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::SAME;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_core::text::visible;

use crate::account::Visibility;
use crate::format;
use crate::leaderboard::{RecoveryTime, Scores, Standing};
use crate::run_state::RunState;
use crate::view::{EvolutionView, RunDetail, RunSummary};

/// The most characters of an error of a provider or a check.
const LONGEST_REASON: usize = 120;

/// In the first convention that has scores; `standing` is that of a ranked run.
pub fn run_sentence(
    run: &RunDetail,
    scores: Option<&Scores>,
    standing: Option<&Standing>,
) -> String {
    let scored = scores.and_then(|scores| Some((scores, scores.evoscore?)));
    let lead = match scored {
        Some((scores, evoscore)) => with_score(run, scores, evoscore, standing),
        None => without_score(run),
    };
    let recovery = scored.and_then(|(scores, _)| scores.recovery.map(recovery));
    let sentences = [
        Some(lead),
        waiting(run),
        blocked(run),
        no_rank(run, standing),
        recovery,
    ];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    sentences.join(" ")
}

fn with_score(
    run: &RunDetail,
    scores: &Scores,
    evoscore: f64,
    standing: Option<&Standing>,
) -> String {
    let interval = scores.intervals.map(|i| format::interval(i.evoscore, 2));
    let interval = interval.map_or(String::new(), |interval| format!(" {interval}"));
    let figure = format!("{}{interval}", format::score(evoscore));
    let names = |ids: BTreeSet<&str>| u32::try_from(ids.len()).unwrap_or(u32::MAX);
    let scored = names(scores.tasks.iter().map(|t| t.task_id.as_str()).collect());
    let all = names(
        run.evolution_list
            .iter()
            .map(|e| e.task_id.as_str())
            .collect(),
    );
    let over = match scored >= all {
        true => format::count(scored, "task"),
        false => format!("{scored} of {}", format::count(all, "task")),
    };
    if run.summary.state() == RunState::BeingAudited {
        return format!("It is being audited; before that its EvoScore is {figure} over {over}.");
    }
    match run.summary.progress {
        Progress::Finished => {
            let rank = standing.map(|standing| rank(standing, evoscore));
            format!("EvoScore {figure} over {over}{}.", rank.unwrap_or_default())
        }
        Progress::Cancelled => {
            format!("Cancelled; until then its EvoScore was {figure} over {over}.")
        }
        Progress::Queued | Progress::Running => {
            format!("So far its EvoScore is {figure} over {over}.")
        }
    }
}

/// ": rank 1–2 of 12". A leaderboard counts the first N iterations, of which a run
/// may have more.
fn rank(standing: &Standing, evoscore: f64) -> String {
    let row = &standing.row;
    let ranks = row.intervals.map(|i| format::ranks(i.rank));
    let ranks = ranks.unwrap_or_else(|| row.rank.to_string());
    let rank = format!("rank {ranks} of {}", standing.of);
    match (row.evoscore - evoscore).abs() > SAME {
        true => format!(
            ". The leaderboard counts fewer iterations: {}, {rank}",
            format::score(row.evoscore)
        ),
        false => format!(": {rank}"),
    }
}

fn without_score(run: &RunDetail) -> String {
    let summary = &run.summary;
    let all = format::count(summary.evolutions, summary.unit());
    match summary.state() {
        RunState::PreflightFailed(finding) => {
            let why = finding.map(|finding| format!(": {}", reason(&finding.says)));
            let why = why.unwrap_or_default();
            format!("Nothing has started, because the preflight failed{why}.")
        }
        RunState::Paused => "It is paused, and nothing is finished yet.".to_owned(),
        RunState::PreflightRunning => {
            format!("Nothing has started yet: {all} will, once the preflight passes.")
        }
        RunState::BeingAudited => {
            "Its evolutions are over and being audited; nothing has a score.".to_owned()
        }
        RunState::At(Progress::Queued) => format!("Nothing has started yet: {all} in the queue."),
        RunState::At(Progress::Running) => {
            let at_work = |e: &&EvolutionView| e.progress == Progress::Running;
            let at_work = run.evolution_list.iter().filter(at_work).count();
            format!("Nothing has a score yet: {at_work} of {all} at work.")
        }
        RunState::At(Progress::Finished) => "It is finished, and nothing has a score.".to_owned(),
        RunState::At(Progress::Cancelled) => {
            "It was cancelled before anything had a score.".to_owned()
        }
    }
}

/// "2 tasks wait for the provider: HTTP 429."
fn waiting(run: &RunDetail) -> Option<String> {
    let waits = run.evolution_list.iter().filter_map(EvolutionView::wait);
    let waits: Vec<_> = waits.collect();
    let number = several(waits.len(), &run.summary, ["waits", "wait"])?;
    let why = waits.iter().find(|wait| !wait.why.is_empty());
    let why = why.map(|wait| format!(": {}", reason(&wait.why)));
    Some(format!(
        "{number} for the provider{}.",
        why.unwrap_or_default()
    ))
}

fn blocked(run: &RunDetail) -> Option<String> {
    let blocked = |e: &&EvolutionView| e.ending == Some(Ending::Blocked);
    let blocked = run.evolution_list.iter().filter(blocked).count();
    let number = several(blocked, &run.summary, ["is", "are"])?;
    Some(format!("{number} blocked and not scored."))
}

/// "1 task waits", "2 tasks wait".
fn several(n: usize, run: &RunSummary, [one, many]: [&str; 2]) -> Option<String> {
    let n = u32::try_from(n).ok().filter(|n| *n > 0)?;
    let verb = if n == 1 { one } else { many };
    Some(format!("{} {verb}", format::count(n, run.unit())))
}

/// Why a finished run has no rank, in short: the page says it in full.
fn no_rank(run: &RunDetail, standing: Option<&Standing>) -> Option<String> {
    let summary = &run.summary;
    if summary.progress != Progress::Finished || standing.is_some() {
        return None;
    }
    let text = match (&run.unranked, summary.visibility) {
        (Some(Unranked::HeldForReview { .. }), _) => "It is held for review.",
        (Some(why @ Unranked::BeingAudited { .. }), _) => return Some(format!("It is {why}.")),
        (_, Visibility::Private) => "It is private, so it takes no rank.",
        (_, Visibility::Withdrawn) => "It is withdrawn, so it takes no rank.",
        (_, Visibility::Public) => "It takes no rank.",
    };
    Some(text.to_owned())
}

fn recovery(time: RecoveryTime) -> String {
    let repaired = time.repaired;
    let after = time.average_iterations.map(|iterations| {
        let iterations = format::decimals(iterations, 1);
        format!(", after {iterations} iterations on average")
    });
    match time.regressions {
        0 => "No iteration broke a passing test.".to_owned(),
        1 if repaired == 1 => "Its only regression was repaired.".to_owned(),
        1 => "Its only regression was never repaired.".to_owned(),
        n => format!(
            "Of {n} regressions, {repaired} {} repaired{}.",
            if repaired == 1 { "was" } else { "were" },
            after.unwrap_or_default()
        ),
    }
}

/// Words of a provider or a check, to be followed by a full stop.
fn reason(text: &str) -> String {
    let text = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    format::clip(&visible(text), LONGEST_REASON)
}

#[cfg(test)]
mod tests {
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::step::Role;
    use swe_ci_core::task::TaskId;

    use super::*;
    use crate::preflight::{Finding, Preflight, PreflightState};
    use crate::testing;
    use crate::view::{CurrentStep, ProviderWait};

    fn evolution(task: u32, progress: Progress, ending: Option<Ending>) -> EvolutionView {
        EvolutionView {
            evolution_id: format!("e{task}"),
            task_id: TaskId::new(format!("task-{task}")).unwrap(),
            sample: 1,
            progress,
            ending,
            reason: None,
            suite: Default::default(),
            start: None,
            max_iterations: 2,
            started_at: None,
            finished_at: None,
            current: None,
            iterations: Vec::new(),
            not_audited: None,
        }
    }

    /// A run with these evolutions.
    fn run(progress: Progress, evolutions: &[(Progress, Option<Ending>)]) -> RunDetail {
        let evolutions = (0..).zip(evolutions);
        let list = evolutions.map(|(n, (progress, ending))| evolution(n, *progress, *ending));
        testing::run_detail(progress, list.collect())
    }

    const SOLVED: (Progress, Option<Ending>) = (Progress::Finished, Some(Ending::Solved));
    const BLOCKED: (Progress, Option<Ending>) = (Progress::Finished, Some(Ending::Blocked));
    const QUEUED: (Progress, Option<Ending>) = (Progress::Queued, None);
    const RUNNING: (Progress, Option<Ending>) = (Progress::Running, None);

    fn preflight(state: PreflightState, says: &str) -> Option<Preflight> {
        let finding = |good, says: &str| Finding {
            subject: "agents".into(),
            good,
            says: says.into(),
            advice: Vec::new(),
            last_lines: Vec::new(),
        };
        Some(Preflight {
            state,
            at: String::new(),
            findings: vec![finding(true, "all is well"), finding(false, says)],
        })
    }

    #[test]
    fn before_there_is_a_score() {
        let check =
            |run: &RunDetail, expect: &str| assert_eq!(run_sentence(run, None, None), expect);
        let mut queued = run(Progress::Queued, &[QUEUED, QUEUED]);
        check(&queued, "Nothing has started yet: 2 tasks in the queue.");
        queued.summary.config.samples = 2;
        check(
            &queued,
            "Nothing has started yet: 2 evolutions in the queue.",
        );
        queued.summary.config.samples = 1;
        queued.summary.preflight = preflight(PreflightState::Waiting, "");
        let once = "Nothing has started yet: 2 tasks will, once the preflight passes.";
        check(&queued, once);
        queued.summary.steering.paused = true;
        check(&queued, "It is paused, and nothing is finished yet.");
        queued.summary.preflight = preflight(PreflightState::Failed, "key refused.\nHTTP 401");
        let failed = "Nothing has started, because the preflight failed: key refused.";
        check(&queued, failed);

        let mut running = run(Progress::Running, &[RUNNING, QUEUED]);
        check(&running, "Nothing has a score yet: 1 of 2 tasks at work.");
        running.evolution_list[0].current = Some(CurrentStep {
            iteration: 1,
            role: Role::Architect,
            attempt: 1,
            waiting: Some(ProviderWait {
                since: "2026-11-20T14:03:00Z".into(),
                why: "HTTP 429".into(),
                ..ProviderWait::default()
            }),
        });
        let waits = "Nothing has a score yet: 1 of 2 tasks at work. 1 task waits for the provider: HTTP 429.";
        check(&running, waits);

        let failed = run(Progress::Finished, &[BLOCKED, BLOCKED]);
        let nothing = "It is finished, and nothing has a score. 2 tasks are blocked and not scored. It takes no rank.";
        check(&failed, nothing);
        let cancelled = run(Progress::Cancelled, &[QUEUED]);
        check(&cancelled, "It was cancelled before anything had a score.");
    }

    #[test]
    fn with_a_score() {
        let entry = testing::spread_run("m", &[&[0.5], &[1.0]]);
        let scores = entry.all_scores(Gamma::ONE, Convention::Reference);
        let board = testing::leaderboard(vec![entry]);
        let row = board.rank(Gamma::ONE, Convention::Reference)[0].clone();
        let standing = Standing {
            convention: Convention::Reference,
            of: 12,
            row,
        };
        let check = |run: &RunDetail, standing: Option<&Standing>, expect: &str| {
            assert_eq!(run_sentence(run, Some(&scores), standing), expect);
        };
        let mut seen = run(Progress::Finished, &[SOLVED, SOLVED]);
        let figure = "0.750 [0.50, 1.00] over 2 tasks";
        check(
            &seen,
            Some(&standing),
            &format!("EvoScore {figure}: rank 1 of 12."),
        );
        let mut fewer = standing.clone();
        fewer.row.evoscore = 0.5;
        let less = "The leaderboard counts fewer iterations: 0.500, rank 1 of 12.";
        check(&seen, Some(&fewer), &format!("EvoScore {figure}. {less}"));
        let none = |why: &str| format!("EvoScore {figure}. {why}");
        seen.summary.visibility = Visibility::Private;
        check(&seen, None, &none("It is private, so it takes no rank."));
        seen.unranked = Some(Unranked::HeldForReview { open: 1 });
        check(&seen, None, &none("It is held for review."));
        seen.unranked = Some(Unranked::BeingAudited { evolutions: 1 });
        check(
            &seen,
            None,
            &none("It is being audited: 1 evolution is left."),
        );

        let going_on = run(Progress::Running, &[SOLVED, SOLVED, RUNNING]);
        let so_far = "So far its EvoScore is 0.750 [0.50, 1.00] over 2 of 3 tasks.";
        check(&going_on, None, so_far);
        let mut audited = run(Progress::Running, &[SOLVED, SOLVED]);
        (audited.summary.evolutions, audited.summary.evolutions_over) = (2, 2);
        assert_eq!(audited.summary.state().name(), "being audited");
        let before =
            "It is being audited; before that its EvoScore is 0.750 [0.50, 1.00] over 2 tasks.";
        check(&audited, None, before);
        let cancelled = run(Progress::Cancelled, &[SOLVED, SOLVED, QUEUED]);
        let until = "Cancelled; until then its EvoScore was 0.750 [0.50, 1.00] over 2 of 3 tasks.";
        check(&cancelled, None, until);
    }

    #[test]
    fn regressions_and_their_repair() {
        let check = |regressions, repaired, average_iterations, expect: &str| {
            let time = RecoveryTime {
                regressions,
                repaired,
                average_iterations,
            };
            assert_eq!(recovery(time), expect);
        };
        check(0, 0, None, "No iteration broke a passing test.");
        check(1, 1, Some(2.0), "Its only regression was repaired.");
        check(1, 0, None, "Its only regression was never repaired.");
        check(3, 0, None, "Of 3 regressions, 0 were repaired.");
        let most = "Of 9 regressions, 4 were repaired, after 2.5 iterations on average.";
        check(9, 4, Some(2.5), most);
    }
}
