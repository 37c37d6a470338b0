//! Which candidates are tried when: all of them, or the newest, a few at a time.

use std::cmp::Reverse;

use futures::TryStreamExt;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_candidates::First;
use swe_ci_core::run::Limits;
use swe_ci_dataset::History;
use swe_ci_sandbox::host;
use swe_ci_store::CandidateRow;
use swe_ci_views::curation::Fate;

use crate::curator::Curator;
use crate::origin::repository_folder;
use crate::unavailable;

impl Curator<'_> {
    /// The third and the last stage: builds the missing environments, and tests
    /// both ends of the candidates that have one. Where the newest spans come
    /// first, a repository's are tried a few at a time until some can become tasks.
    pub async fn try_candidates(&self) -> Result<()> {
        loop {
            let waiting = self.candidates(|candidate| candidate.environment == Fate::Waiting);
            let mut waiting = waiting.await?;
            if self.plan.spans.first == First::Newest {
                waiting = self.next_of(waiting).await?;
            }
            let tried = waiting.len();
            let at_once = host::carries(Limits::default());
            futures::stream::iter(waiting.into_iter().map(Ok))
                .try_for_each_concurrent(at_once, |candidate| self.build_environment(candidate))
                .await?;
            self.test_candidates().await?;
            if tried == 0 {
                return Ok(());
            }
        }
    }

    /// The newest candidates of each repository, as many as may become tasks; none
    /// where some can already, whose others are dropped.
    async fn next_of(&self, waiting: Vec<CandidateRow>) -> Result<Vec<CandidateRow>> {
        let ready = |candidate: &CandidateRow| {
            candidate.environment == Fate::Survived
                && !matches!(candidate.filtered, Fate::Dropped { .. })
        };
        let ready = self.candidates(ready).await?;
        let home = self.home.clone();
        let by_time = blocking(move || {
            let mut dated = Vec::new();
            for candidate in waiting {
                let history = History::new(repository_folder(&home, candidate.repository));
                dated.push((history.commit(&candidate.target_sha)?.time, candidate));
            }
            dated.sort_by_key(|(time, _)| Reverse(*time));
            Ok(dated.into_iter().map(|(_, candidate)| candidate))
        });
        let mut next: Vec<CandidateRow> = Vec::new();
        for mut candidate in by_time.await.map_err(unavailable)? {
            let of_same = |other: &&CandidateRow| other.repository == candidate.repository;
            if ready.iter().any(|other| of_same(&other)) {
                candidate.environment = Fate::dropped("not needed", "newer spans can become tasks");
                let store = self.curations.store;
                store.put_candidate(self.id, &candidate).await?;
            } else if next.iter().filter(of_same).count() < self.plan.filter.most_per_repository {
                next.push(candidate);
            }
        }
        Ok(next)
    }
}
