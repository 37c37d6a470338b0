//! For any history, spans and single commits cover the main branch, each has
//! the same declarations from end to end, and those of neighbours differ.

use proptest::prelude::*;
use swe_ci_candidates::dependencies::DeclaredDependencies;
use swe_ci_candidates::{Span, declared, first_parents, open_repository, unwatched};

use crate::{any, project};

/// One commit: the files it writes, if any. Numbers are small so that they
/// recur; the second is noise, which is never a dependency.
#[derive(Debug, Clone)]
enum Step {
    Pyproject(u8, u8),
    Requirements(Option<u8>, u8),
    Lock(Option<u8>, u8),
    Code(u8),
    Merge,
}

fn step() -> impl Strategy<Value = Step> {
    let maybe = || proptest::option::of(0..2u8);
    prop_oneof![
        (0..3u8, 0..3u8).prop_map(|(dependency, noise)| Step::Pyproject(dependency, noise)),
        (maybe(), 0..3u8).prop_map(|(dependency, noise)| Step::Requirements(dependency, noise)),
        (maybe(), 0..3u8).prop_map(|(dependency, noise)| Step::Lock(dependency, noise)),
        (0..9u8).prop_map(Step::Code),
        Just(Step::Merge),
    ]
}

/// The expected declarations, computed from the steps alone.
type State = (u8, Option<u8>, Option<u8>);

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_cover_the_main_branch(steps in proptest::collection::vec(step(), 1..25)) {
        let (_folder, mut history) = project();
        // The initial declarations.
        let mut state: State = (1, None, None);
        let mut states = Vec::new();
        for step in steps {
            let mut merged = Vec::new();
            let mut put = |path: &str, text: Option<String>| match text {
                Some(text) => history.write(path, text).unwrap(),
                None => history.remove(path),
            };
            match step {
                Step::Pyproject(n, noise) => {
                    state.0 = n;
                    put("pyproject.toml", Some(format!("[project]\nname='p'\nversion='{noise}'\ndependencies=['a>={n}']\n")));
                }
                Step::Requirements(n, noise) => {
                    state.1 = n;
                    put("requirements/x.txt", n.map(|n| format!("# {noise}\nb=={n}\n")));
                }
                Step::Lock(n, noise) => {
                    state.2 = n;
                    put("uv.lock", n.map(|n| format!("[[package]]\nname='p'\nversion='{noise}'\nsource={{virtual='.'}}\n[[package]]\nname='c'\nversion='{n}'\n")));
                }
                Step::Code(n) => put("p/core.py", Some(format!("n = {n}\n"))),
                Step::Merge if !states.is_empty() => {
                    merged.push(history.commit_on("aside", &[]).unwrap());
                }
                Step::Merge => {}
            }
            history.merge("step", &merged).unwrap();
            states.push(state);
        }
        check(&history, &states)?;
    }
}

fn check(
    history: &swe_ci_candidates::testing::History,
    states: &[State],
) -> Result<(), TestCaseError> {
    let repository = open_repository(history.folder()).unwrap();
    let tip = repository.tip(None).unwrap();
    let chain = first_parents(&repository, tip, &unwatched).unwrap();
    let declared: Vec<DeclaredDependencies> = chain
        .iter()
        .map(|c| declared(&repository, c.id).unwrap())
        .collect();
    let report = swe_ci_candidates::spans(history.folder(), None, &any(), &unwatched).unwrap();

    let runs = states.chunk_by(|a, b| a == b).count();
    prop_assert_eq!(chain.len(), states.len());
    prop_assert_eq!(report.subsequences, runs);
    let spans = report.kept.iter().map(|found| &found.span);
    let spans: Vec<&Span> = spans
        .chain(report.dropped.iter().map(|d| &d.span))
        .collect();
    let place = |sha: &str| chain.iter().position(|c| c.id.to_string() == sha).unwrap();
    let mut covered = vec![0; chain.len()];
    for span in spans {
        let (base, target) = (place(&span.base), place(&span.target));
        prop_assert_eq!(target - base, span.commits);
        for at in base..=target {
            covered[at] += 1;
            prop_assert_eq!(&declared[at], &declared[base]);
        }
        prop_assert!(base == 0 || declared[base - 1] != declared[base]);
        prop_assert!(declared.get(target + 1) != Some(&declared[target]));
    }
    prop_assert!(covered.iter().all(|times| *times <= 1));
    prop_assert_eq!(
        covered.iter().filter(|times| **times == 0).count(),
        report.singles
    );
    Ok(())
}
