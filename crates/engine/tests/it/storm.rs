//! A fault storm: a provider that fails in every way there is, and recovers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use swe_ci_core::agent::Protocol;
use swe_ci_core::run::HarnessConfig;
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_core::usage::Usage;
use swe_ci_engine::testing::TinyTask;
use swe_ci_testing::scripted::{FAULTS, Fault, Script, ScriptedLlm};
use swe_ci_views::account::Visibility;

use crate::agents::{self, KEY, KEY_NAME, TASK, mend_one_by_one};
use crate::fixture::{Fixture, golden};

/// Evolutions at a time: most of them wait.
const WORKERS: usize = 12;
/// In a storm half of these requests for each evolution fail; probes count too.
const REQUESTS: usize = 12;
/// And no longer than so.
const LONGEST: Duration = Duration::from_mins(10);

/// The fault of a request in the storm, the same in each run of the test.
fn fault(request: usize, storm: usize) -> Option<Fault> {
    // The steps of SplitMix64.
    let mut mixed = (request as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let fails = request < storm && mixed.is_multiple_of(2);
    fails.then(|| FAULTS[(mixed >> 8) as usize % FAULTS.len()].1)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: 20 evolutions that wait for minutes"]
async fn a_fault_storm_costs_no_score() {
    outlast(10).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: 200 evolutions, a quarter of an hour"]
async fn two_hundred_evolutions_outlast_a_fault_storm() {
    outlast(100).await;
}

/// Two tasks, each in so many samples.
async fn outlast(samples: u32) {
    let again = TinyTask {
        name: "again",
        ..TASK
    };
    let evolutions = 2 * samples as usize;
    let storm = REQUESTS * evolutions;
    let fixture = Fixture::with_workers(WORKERS).await;
    fixture.import(&[TASK, again]).await.unwrap();
    let key = KEY.to_owned().into();
    fixture.engine.set_key(KEY_NAME, &key).await.unwrap();
    let llm = ScriptedLlm::start(Script::with(mend_one_by_one), KEY)
        .await
        .unwrap();
    let began = Instant::now();
    let (asked, faults) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let counted = faults.clone();
    llm.fault_when(move |seen| {
        let fault = fault(asked.fetch_add(1, Ordering::Relaxed), storm)?;
        // Everybody waits two minutes for a probe that gets nothing.
        let is_silent = matches!(fault, Fault::Stall | Fault::Comments | Fault::Hang);
        let is_probe = seen.body["tools"].is_null();
        if began.elapsed() > LONGEST || (is_silent && is_probe) {
            return None;
        }
        counted.fetch_add(1, Ordering::Relaxed);
        Some(fault)
    });
    let mut config = agents::config(&llm, HarnessConfig::Builtin, Protocol::Chat);
    config.samples = samples;
    config.plan.max_attempts = 10;
    config.limits.patience_seconds = 20;
    let id = fixture.engine.submit(config, Visibility::Public).await;
    let id = id.unwrap();
    let over = async || {
        let run = fixture.engine.run_summary(&id).await.unwrap();
        run.progress.is_over().then_some(())
    };
    fixture.work_until(over).await;
    let run = fixture.engine.run(&id).await.unwrap();
    assert_eq!(run.evolution_list.len(), evolutions);

    let (mut counted, mut agents_fault) = (Usage::default(), 0);
    for evolution in &run.evolution_list {
        let steps = fixture.engine.steps(&evolution.evolution_id).await.unwrap();
        for step in steps.iter().filter(|step| step.role != Role::Test) {
            counted += step.usage.unwrap();
            agents_fault += usize::from(!matches!(
                step.outcome,
                StepOutcome::Done | StepOutcome::ProviderFailed
            ));
        }
        let told: Vec<_> = steps.iter().map(|s| (s.outcome, &s.detail)).collect();
        assert_eq!(evolution.ending, Some(Ending::Solved), "{told:#?}");
        // As in `the_builtin_agent_carries_an_evolution_to_its_end`.
        assert_eq!(
            golden(evolution),
            format!(
                "{} solved\n\
                 1 2/3 lost 0 gained 1\n\
                 2 3/3 lost 0 gained 1\n",
                evolution.task_id
            )
        );
    }
    let faults = faults.load(Ordering::Relaxed);
    eprintln!("{faults} faults, {agents_fault} steps that the agent failed");
    assert!(faults > 80);
    // The same refusal twice around an answered probe: one in hundreds of faults.
    assert!(
        agents_fault <= 3.max(faults / 100),
        "{agents_fault} times the agent was blamed"
    );
    assert_eq!(counted, llm.sent(), "no token is lost");
}
