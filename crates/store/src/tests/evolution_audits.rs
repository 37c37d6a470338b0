//! Audits: each evolution has one, and what it finds changes iterations.

use swe_ci_base::clock::now_ms;
use swe_ci_core::audit::{Audit, AuditedState, Coverage, EvolutionAudit};

use super::styles::ended;
use super::*;
use crate::ContradictedSuite;

#[tokio::test]
async fn an_evolution_is_audited_by_one_worker() {
    on_both(async |store| {
        let measured = RunConfig {
            kind: Kind::Measured,
            ..RunConfig::human("s")
        };
        let run_id = run_of(&store, measured, &[("a", 3.0), ("b", 2.0), ("c", 1.0)]).await;
        let old = ended(&store, Ending::Solved, "code/1").await;
        let new = ended(&store, Ending::Solved, "code/2").await;
        ended(&store, Ending::Solved, "").await;
        // From before there were audits.
        sqlx::query("INSERT INTO evolution_audits (evolution_id, worker, claimed_until, holds_rank, found) VALUES ($1, '', 0, 0, '')")
            .bind(&old)
            .execute(&store.pool)
            .await
            .unwrap();
        let pending = async || store.pending_audits(&run_id).await.unwrap();
        let claim = async || store.claim_audit("here", now_ms() + 60_000).await.unwrap();
        assert_eq!(pending().await, 1);
        assert_eq!(claim().await, Some(new.clone()));
        assert_eq!(claim().await, Some(old.clone()));
        assert_eq!(claim().await, None);
        assert_eq!(pending().await, 1);
        // A killed process's claims pass to its successor, in the same order.
        store.release_audits("here").await.unwrap();
        assert_eq!((claim().await, pending().await), (Some(new.clone()), 1));

        // Put back, it waits for its time and holds up no other.
        let put_back = async |id: &str, from, is_gone| {
            store.put_back_audit(id, from, is_gone).await.unwrap()
        };
        assert_eq!(put_back(&new, now_ms() + 60_000, true).await, 1);
        assert_eq!((claim().await, pending().await), (Some(old.clone()), 1));
        // Only code that is gone counts.
        assert_eq!(put_back(&old, now_ms() - 1, false).await, 0);
        assert_eq!(put_back(&new, now_ms() - 1, true).await, 2);
        assert_eq!(claim().await, Some(new.clone()));

        let audit = EvolutionAudit {
            reason: Some("no tests".into()),
            ..EvolutionAudit::default()
        };
        assert_eq!(store.evolution_audit(&new).await.unwrap(), None);
        store.put_audit(&new, &audit, &[]).await.unwrap();
        assert_eq!(store.evolution_audit(&new).await.unwrap(), Some(audit));
        assert_eq!((claim().await, pending().await), (Some(old), 0));
        assert_eq!(claim().await, None);
    })
    .await;
}

/// States are audited while their evolution runs, and kept for its end. After a retry
/// the rest is audited.
#[tokio::test]
async fn an_evolution_is_audited_while_it_runs() {
    on_both(async |store| {
        let measured = RunConfig {
            kind: Kind::Measured,
            ..RunConfig::human("s")
        };
        let run_id = run_of(&store, measured, &[("a", 3.0)]).await;
        let id = ended(&store, Ending::AgentGaveUp, "code/1").await;
        let set = async |sql: &'static str| {
            sqlx::query(sql).execute(&store.pool).await.unwrap();
        };
        set("UPDATE evolutions SET ending = NULL, progress = 'running'").await;
        let claim = async || store.claim_audit("here", now_ms() + 60_000).await.unwrap();
        assert_eq!(claim().await, Some(id.clone()));
        assert_eq!(claim().await, None);
        let states = [AuditedState {
            iteration: 1,
            seconds: 2.5,
            audit: Audit {
                seed: "1".into(),
                tests: 3,
                accusations: Vec::new(),
                only_as_written: None,
            },
        }];
        store.put_audited_states(&id, &states, 1).await.unwrap();
        assert_eq!(store.audited_states(&id).await.unwrap(), states);
        assert_eq!(
            (claim().await, store.evolution_audit(&id).await.unwrap()),
            (None, None)
        );

        set("UPDATE evolutions SET ending = 'agent_gave_up', progress = 'finished'").await;
        assert_eq!(claim().await, Some(id.clone()));
        let audit = EvolutionAudit {
            states: states.to_vec(),
            ..EvolutionAudit::default()
        };
        store.put_audit(&id, &audit, &[]).await.unwrap();
        assert_eq!(store.pending_audits(&run_id).await.unwrap(), 0);
        let endings = [Ending::AgentGaveUp];
        let by = swe_ci_views::account::Actor::Operator;
        let cleared = store.clear(&run_id, &endings, &by).await.unwrap();
        assert_eq!(cleared, std::slice::from_ref(&id));
        assert_eq!(store.evolution_audit(&id).await.unwrap(), None);
        assert_eq!(store.audited_states(&id).await.unwrap(), states);
    })
    .await;
}

#[tokio::test]
async fn accused_code_collapses() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 3.0)]).await;
        let id = ended(&store, Ending::Solved, "code/1").await;
        // The human baseline is audited, but waits for nothing.
        assert_eq!(store.pending_audits(&run_id).await.unwrap(), 0);
        let collapsed = IterationRow {
            verdict: Verdict::Collapsed { lost: 1 },
            gained: 0,
            outcomes: Outcomes::from_letters("---".into()),
            collapse: Some("it passes contradictions".into()),
            ..all_passed("code/1")
        };
        let audit = EvolutionAudit::default();
        store
            .put_audit(&id, &audit, std::slice::from_ref(&collapsed))
            .await
            .unwrap();
        let rows = store.iterations(&id).await.unwrap();
        assert_eq!(rows[0].verdict, collapsed.verdict);
        assert_eq!(rows[0].outcomes, collapsed.outcomes);
        let evolution = store.evolution(&id).await.unwrap();
        assert_eq!(evolution.ending, Some(Ending::CutShort));
        assert_eq!(evolution.reason, collapsed.collapse);
        let of_run = store.audits_of_run(&evolution.run_id).await.unwrap();
        assert_eq!(of_run, [(id.clone(), audit)]);
        let run = &evolution.run_id;
        assert!(store.not_audited(run).await.unwrap().is_empty());
        let why = "no contradiction can be made";
        let audit = EvolutionAudit::without(why.into());
        store.put_audit(&id, &audit, &[]).await.unwrap();
        let not_audited = store.not_audited(run).await.unwrap();
        assert_eq!(not_audited.get(&id).map(String::as_str), Some(why));
    })
    .await;
}

#[tokio::test]
async fn contradictions_are_made_once_for_a_suite() {
    on_both(async |store| {
        assert_eq!(store.contradictions("s").await.unwrap(), None);
        let mut suite = ContradictedSuite {
            artifact: String::new(),
            coverage: Coverage {
                reason: Some("Python 3.8 cannot write tests".into()),
                ..Coverage::default()
            },
        };
        store.put_contradictions("s", &suite).await.unwrap();
        suite.artifact = "key".into();
        suite.coverage.reason = None;
        store.put_contradictions("s", &suite).await.unwrap();
        let coverages = store.coverages().await.unwrap();
        assert_eq!(coverages.get("s"), Some(&suite.coverage));
        assert_eq!(store.contradictions("s").await.unwrap(), Some(suite));
    })
    .await;
}
