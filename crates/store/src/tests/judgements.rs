//! What models say of a run.

use swe_ci_core::usage::Usage;
use swe_ci_views::judge::{Judge, Judgement};

use super::imports::imported;
use super::*;

fn judge(id: &str, at: &str) -> Judge {
    Judge {
        judge_id: id.into(),
        model: "judge-1".into(),
        parameters: serde_json::Map::default(),
        prompt_digest: "abc".into(),
        criteria: Vec::new(),
        by: "operator".into(),
        at: at.into(),
    }
}

#[tokio::test]
async fn judgements_belong_to_their_judge_and_iteration() {
    on_both(async |store| {
        let (run, _) = store.put_import(&imported("d", &[12])).await.unwrap();
        let evolution = store.evolutions_of_run(&run).await.unwrap().remove(0);
        let judgement = |iteration: u32, problem: Option<&str>| Judgement {
            task_id: evolution.task_id.clone(),
            sample: evolution.sample,
            evolution_id: evolution.id.clone(),
            iteration,
            answers: Vec::new(),
            problem: problem.map(str::to_owned),
            usage: Usage::default(),
            micro_usd: Some(7),
            at: "2026-11-20T14:00:00Z".into(),
        };
        assert_eq!(store.judged_run(&run).await.unwrap(), []);
        let by = Actor::Operator;
        let (old, new) = (judge("a", "2026-11-20"), judge("b", "2026-11-21"));
        for one in [&old, &new, &judge("a", "2026-11-22")] {
            store.put_judge(&run, one, &by).await.unwrap();
        }
        for one in [
            judgement(2, None),
            judgement(1, Some("none")),
            judgement(1, None),
        ] {
            store.put_judgement(&run, "a", &one).await.unwrap();
        }
        let judged = store.judged_run(&run).await.unwrap();
        // The first time it was asked counts.
        assert_eq!(judged[0].judge, new);
        assert_eq!(judged[0].judgements, []);
        assert_eq!(judged[1].judge, old);
        assert_eq!(
            judged[1].judgements,
            [judgement(1, None), judgement(2, None)]
        );
        // Another import replaces the evolutions.
        store.put_import(&imported("e", &[13])).await.unwrap();
        assert_eq!(store.judged_run(&run).await.unwrap()[1].judgements, []);
    })
    .await;
}
