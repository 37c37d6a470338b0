//! Code style: each evolution and version is measured once.

use swe_ci_base::clock::now_ms;
use swe_ci_views::style::{
    CodeStyle, CodeVersion, Erosion, EvolutionStyle, StyleTools, VersionStyle,
};

use super::*;
use crate::CodeStyleRow;

fn style() -> EvolutionStyle {
    EvolutionStyle {
        tools: StyleTools::default(),
        image: "sha256:image".into(),
        versions: vec![VersionStyle {
            version: CodeVersion::Base,
            source: "abc".into(),
            style: CodeStyle {
                mi: Some(71.25),
                ..CodeStyle::default()
            },
            lines: swe_ci_views::preparation::Lines::default(),
            erosion: Erosion {
                unused_code: Some(2.5),
                ..Erosion::default()
            },
            problems: vec!["griffe: it took over 300 s".into()],
        }],
    }
}

/// Runs an evolution to its end, with an artifact of its code or none.
pub(super) async fn ended(store: &Store, ending: Ending, code: &str) -> String {
    let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
    let tested = step(1, Role::Test, StepOutcome::Scored { solved: true });
    let record = StepToRecord {
        step: &tested,
        iteration: Some(&all_passed(code)),
        next: Err((ending, None)),
    };
    store.record_step(&claim, "w/1", &record).await.unwrap();
    claim.evolution_id
}

#[tokio::test]
async fn an_evolution_is_measured_by_one_worker() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)]).await;
        let later = ended(&store, Ending::IterationsSpent, "code/1").await;
        let solved = ended(&store, Ending::Solved, "code/2").await;
        ended(&store, Ending::Solved, "").await;
        ended(&store, Ending::Blocked, "code/3").await;
        let claim = async |until: i64| store.claim_style("here", 1, until).await.unwrap();
        let soon = now_ms() + 60_000;

        // Solved ones first; those without code or without a score, never.
        assert_eq!(claim(soon).await, Some(solved.clone()));
        assert_eq!(claim(now_ms() - 1).await, Some(later.clone()));
        assert_eq!(store.style(&solved, 1).await.unwrap(), None);
        // An expired claim is free again.
        assert_eq!(claim(soon).await, Some(later.clone()));
        assert_eq!(claim(soon).await, None);
        // A killed process's claims pass to its successor.
        store.release_styles("elsewhere").await.unwrap();
        assert_eq!(claim(soon).await, None);
        store.release_styles("here").await.unwrap();
        assert_eq!(claim(soon).await, Some(solved.clone()));
        // One that was put back is nobody's until its time, and holds up no other.
        let put_back = async |until: i64| store.put_back_style(&solved, "here", until).await;
        put_back(soon).await.unwrap();
        assert_eq!(claim(soon).await, Some(later.clone()));
        assert_eq!(store.style(&solved, 1).await.unwrap(), None);
        put_back(now_ms() - 1).await.unwrap();
        assert_eq!(claim(soon).await, Some(solved.clone()));

        let changes = store.changes().await.unwrap();
        store.put_style(&solved, 1, &Ok(style())).await.unwrap();
        store
            .put_style(&later, 1, &Err("no code".into()))
            .await
            .unwrap();
        assert!(store.changes().await.unwrap() > changes);
        store.release_styles("here").await.unwrap();
        assert_eq!(claim(soon).await, None);
        assert_eq!(store.style(&solved, 1).await.unwrap(), Some(Ok(style())));
        assert_eq!(
            store.style(&later, 1).await.unwrap(),
            Some(Err("no code".into()))
        );

        assert_eq!(store.style(&solved, 2).await.unwrap(), None);
        // By another method all are unmeasured, and by this one the failed one.
        let wanted = async |method| store.unmeasured(Some(&run_id), method).await.unwrap();
        assert_eq!(wanted(1).await, std::slice::from_ref(&later));
        assert_eq!(wanted(2).await.len(), 2);
        assert!(store.unmeasured(Some("none"), 2).await.unwrap().is_empty());
        let of_run = store.styles_of_run(&run_id, 1).await.unwrap();
        assert_eq!(of_run, [(solved, style())]);
    })
    .await;
}

#[tokio::test]
async fn code_is_measured_once() {
    on_both(async |store| {
        let row = CodeStyleRow {
            source: "abc".into(),
            image: "sha256:image".into(),
            tools: StyleTools::default(),
            style: CodeStyle::default(),
            files: "styles/abc.json.zst".into(),
        };
        store.put_code_style(1, &row).await.unwrap();
        let other = CodeStyleRow {
            files: "other".into(),
            ..row.clone()
        };
        store.put_code_style(1, &other).await.unwrap();
        let read = async |method, source| {
            let image = "sha256:image";
            store.code_style(method, source, image).await.unwrap()
        };
        assert_eq!(read(1, "abc").await, Some(row));
        assert_eq!(read(2, "abc").await, None);
        assert_eq!(read(1, "abd").await, None);
    })
    .await;
}
