//! How the agents of a run worked: sums over its recorded steps, the places
//! behind them, and the search in all transcripts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::requirement::Requirement;
use swe_ci_store::{EvolutionRow, StepRow};
use swe_ci_views::trajectories::{
    EvolutionDigest, EvolutionRecord, FailedSteps, LONGEST_SEARCH, MAX_HITS, Place, Selection,
    StepFailure, StepRecord, Subject, Trajectories, TranscriptHit, TranscriptSearch, places,
    search, tables,
};
use swe_ci_views::view::RunSummary;

use crate::api::runs::{by_evolution, view};
use crate::digests::{is_known, stored_digests, texts};
use crate::{Engine, as_u32};

/// An answer waits this long for recordings that were never read.
const PATIENCE: Duration = Duration::from_secs(2);
/// A part of a search takes about this long.
const SEARCH_TIME: Duration = Duration::from_secs(2);
/// Places of lost tests with their requirements; the rest has none.
const WITH_REQUIREMENTS: usize = 100;
/// Characters of a requirement beside a place.
const LONGEST_NOTE: usize = 300;

static EMPTY: EvolutionDigest = EvolutionDigest {
    steps: BTreeMap::new(),
    changes: BTreeMap::new(),
    losses: BTreeMap::new(),
};

/// The rows and digests of a run.
struct RunRecords {
    run: RunSummary,
    evolutions: Vec<EvolutionRecord>,
    steps: HashMap<String, Vec<StepRow>>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// How the agents of a run worked, and for each selected row the steps or
    /// iterations that it sums; with lost tests, what the iteration was to do. The
    /// first time, this starts to read the recordings of the run; see
    /// [`Trajectories::read`] for how many it has.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run the actor may not see.
    pub async fn trajectories(
        &self,
        run_id: &str,
        selections: Vec<Selection>,
    ) -> Result<(Trajectories, Vec<Vec<Place>>)> {
        let RunRecords {
            run,
            evolutions,
            steps,
        } = self.run_records(run_id).await?;
        let sums = move || {
            let lists = selections.iter().map(|one| places(&evolutions, one));
            let lists: Vec<Vec<Place>> = lists.collect();
            let subjects = selections.into_iter().map(|one| one.subject);
            Ok((
                sums(run, &evolutions),
                subjects.zip(lists).collect::<Vec<_>>(),
            ))
        };
        let (sums, lists) = blocking(sums).await?;
        let mut places = Vec::new();
        for (subject, mut list) in lists {
            if subject == Subject::Loss {
                for place in list.iter_mut().take(WITH_REQUIREMENTS) {
                    self.add_requirements(place, &steps).await;
                }
            }
            places.push(list);
        }
        Ok((sums, places))
    }

    /// How many steps of a run failed, by cause. A recording that was not read yet
    /// does not count: the outcome of its step decides.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run the actor may not see.
    pub async fn failed_steps(&self, run_id: &str) -> Result<FailedSteps> {
        self.visible_run(run_id).await?;
        let outcomes = &StepFailure::OUTCOMES;
        let failed = self.store.steps_of_run_with(run_id, outcomes).await?;
        let mut found = FailedSteps::default();
        if failed.is_empty() {
            return Ok(found);
        }
        let digests = stored_digests(&self.store, run_id).await?;
        for (evolution, step) in failed {
            let recording = step.trajectory.as_ref();
            let digests = digests.get(&evolution);
            let digest = digests
                .zip(recording)
                .and_then(|(all, key)| all.steps.get(key));
            let digest = digest.and_then(Option::as_ref);
            if let Some(failure) = StepFailure::of(&step.view(), digest) {
                found.add(failure.class);
            }
        }
        Ok(found)
    }

    /// A missing or damaged document does not fail the page.
    async fn add_requirements(&self, place: &mut Place, steps: &HashMap<String, Vec<StepRow>>) {
        let steps = steps.get(&place.evolution_id).into_iter().flatten();
        let steps: Vec<StepRow> = steps
            .filter(|step| step.iteration == place.iteration)
            .cloned()
            .collect();
        let Ok(requirements) = self.requirements(&steps).await else {
            return;
        };
        let text = |one: &Requirement| format!("{}: {}", one.location, one.description);
        let texts: Vec<String> = requirements.iter().map(text).collect();
        let parts = [std::mem::take(&mut place.note), texts.join(" · ")];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let whole = parts.into_iter().filter(|part| !part.is_empty());
        let whole = whole.collect::<Vec<_>>().join(" · ");
        place.note = whole.chars().take(LONGEST_NOTE).collect();
    }

    /// Searches the transcripts of a run for a text, ignoring case, for a short
    /// time, beginning at recorded step `from`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is empty or too long;
    /// [`Error::NotFound`] for a run the actor may not see.
    pub async fn search_transcripts(
        &self,
        run_id: &str,
        q: &str,
        from: u32,
    ) -> Result<TranscriptSearch> {
        let q = q.trim();
        if q.is_empty() || q.len() > LONGEST_SEARCH {
            return Err(Error::Invalid(format!(
                "q: give a text of 1 to {LONGEST_SEARCH} bytes to search for"
            )));
        }
        let records = self.run_records(run_id).await?;
        let recorded: Vec<(&EvolutionRecord, &StepRecord, &str)> = records
            .evolutions
            .iter()
            .flat_map(|evolution| {
                let steps = evolution.steps.iter();
                steps.filter_map(move |step| Some((evolution, step, step.recording.as_deref()?)))
            })
            .collect();
        let mut part = TranscriptSearch {
            run_id: records.run.run_id,
            model: records.run.config.model,
            split: records.run.config.split,
            q: q.to_owned(),
            hits: Vec::new(),
            searched: from.min(as_u32(recorded.len())),
            recorded: as_u32(recorded.len()),
            skipped: 0,
            next: None,
        };
        let until = Instant::now() + SEARCH_TIME;
        let query: Arc<str> = q.into();
        for (evolution, step, recording) in recorded.into_iter().skip(from as usize) {
            if part.hits.len() == MAX_HITS || Instant::now() >= until {
                part.next = Some(part.searched);
                break;
            }
            part.searched += 1;
            if evolution.digest.steps.get(recording) == Some(&None) {
                continue;
            }
            let Some(texts) = texts(&self.artifacts, recording).await else {
                part.skipped += 1;
                continue;
            };
            let query = query.clone();
            let Some((hits, message, excerpt)) =
                blocking(move || Ok(search(&texts, &query))).await?
            else {
                continue;
            };
            let place = Place::of_hits(evolution, step, hits, message);
            part.hits.push(TranscriptHit { place, excerpt });
        }
        Ok(part)
    }

    /// Waits a little for recordings that were never read; what was not read
    /// after that is missing.
    async fn run_records(&self, run_id: &str) -> Result<RunRecords> {
        let run = self.visible_run(run_id).await?;
        let rows = self.store.evolutions_of_run(run_id).await?;
        let mut iterations = by_evolution(self.store.iterations_of_run(run_id).await?);
        let steps = by_evolution(self.store.steps_of_run(run_id).await?);
        let mut digests = stored_digests(&self.store, run_id).await?;
        let is_complete = |row: &EvolutionRow| {
            let digest = digests.get(&row.id).unwrap_or(&EMPTY);
            let steps = steps.get(&row.id).into_iter().flatten();
            let mut recordings = steps.filter_map(|step| step.trajectory.as_ref());
            let mut iterations = iterations.get(&row.id).into_iter().flatten();
            recordings.all(|key| digest.steps.contains_key(key))
                && iterations.all(|row| is_known(digest, row))
        };
        let incomplete: Vec<(String, EvolutionDigest)> = rows
            .iter()
            .filter(|row| !is_complete(row))
            .map(|row| {
                (
                    row.id.clone(),
                    digests.get(&row.id).cloned().unwrap_or_default(),
                )
            })
            .collect();
        if !incomplete.is_empty() {
            let read = self.clone().read_digests(incomplete);
            let done = self.digest_readers.done(run_id, read);
            let done = tokio::time::timeout(PATIENCE, done).await.is_ok();
            digests = stored_digests(&self.store, run_id).await?;
            if done {
                note_unread(&mut digests, &steps);
            }
        }
        let max_iterations = run.config.plan.max_iterations;
        let evolutions = rows.into_iter().map(|row| {
            let own = steps.get(&row.id).into_iter().flatten();
            let iterations = iterations.remove(&row.id).unwrap_or_default();
            EvolutionRecord {
                digest: digests.remove(&row.id).unwrap_or_default(),
                steps: own.map(step_record).collect(),
                view: view(row, max_iterations, &iterations),
            }
        });
        Ok(RunRecords {
            evolutions: evolutions.collect(),
            run,
            steps,
        })
    }
}

/// Notes the recordings that a complete reading could not read: they are not there
/// now, and the next reader asks for them again.
fn note_unread(
    digests: &mut HashMap<String, EvolutionDigest>,
    steps: &HashMap<String, Vec<StepRow>>,
) {
    for (evolution, steps) in steps {
        let digest = digests.entry(evolution.clone()).or_default();
        for recording in steps.iter().filter_map(|step| step.trajectory.as_ref()) {
            digest.steps.entry(recording.clone()).or_insert(None);
        }
    }
}

fn sums(run: RunSummary, evolutions: &[EvolutionRecord]) -> Trajectories {
    let digests = evolutions.iter().flat_map(|evolution| {
        let recordings = evolution.steps.iter().filter_map(|s| s.recording.as_ref());
        recordings.map(|key| evolution.digest.steps.get(key))
    });
    let digests: Vec<_> = digests.collect();
    let read = digests.iter().flatten();
    Trajectories {
        recorded: as_u32(digests.len()),
        read: as_u32(read.clone().count()),
        unreadable: as_u32(read.filter(|digest| digest.is_none()).count()),
        tables: tables(evolutions),
        run_id: run.run_id,
        model: run.config.model,
        split: run.config.split,
    }
}

fn step_record(step: &StepRow) -> StepRecord {
    StepRecord {
        view: step.view(),
        recording: step.trajectory.clone(),
    }
}
