//! Views of a curation's rows.

use swe_ci_store::{CandidateRow, CuratedRepository};
use swe_ci_views::curation::{CandidateView, Fate, Stage, StageCount, funnel};

use super::plan::Origin;

/// The number of candidates at each stage, and their fates.
pub fn count(repositories: &[CuratedRepository], candidates: &[CandidateRow]) -> Vec<StageCount> {
    let collected = repositories.iter().map(|r| (Stage::Collect, &r.fate));
    let dropped: Vec<Fate> = repositories
        .iter()
        .flat_map(|repository| repository.spans.iter().flatten())
        .flat_map(|(reason, n)| {
            let fate = Fate::dropped(reason.as_str(), "");
            std::iter::repeat_n(fate, *n as usize)
        })
        .collect();
    let survived = Fate::Survived;
    let spans = dropped.iter().chain(candidates.iter().map(|_| &survived));
    let spans = spans.map(|fate| (Stage::Spans, fate));
    let equipped = candidates
        .iter()
        .map(|c| (Stage::Environment, &c.environment));
    let filtered = candidates
        .iter()
        .filter(|c| c.environment == Fate::Survived);
    let filtered = filtered.map(|c| (Stage::Filter, &c.filtered));
    funnel(collected.chain(spans).chain(equipped).chain(filtered))
}

pub fn view(candidate: &CandidateRow, repository: String) -> CandidateView {
    let (stage, fate) = match &candidate.environment {
        Fate::Survived => (Stage::Filter, &candidate.filtered),
        environment => (Stage::Environment, environment),
    };
    CandidateView {
        task: candidate.task_id.clone(),
        repository,
        base_sha: candidate.base_sha.clone(),
        target_sha: candidate.target_sha.clone(),
        commits: candidate.commits,
        days: candidate.days,
        modified_lines: candidate.modified_lines,
        stage,
        fate: fate.clone(),
        attempts: candidate.attempts.clone(),
    }
}

pub fn source_in_words(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Origin::Git { address, .. }) => shown_address(&address),
        Ok(Origin::Package { package, .. }) => format!("releases of {package}"),
        Err(_) => String::new(),
    }
}

/// Without user and password.
fn shown_address(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('@') {
            Some((user, place)) if !user.contains('/') => format!("{scheme}://{place}"),
            _ => address.to_owned(),
        },
        None => address.to_owned(),
    }
}
