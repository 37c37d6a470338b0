//! Scores: leaderboard data, rankings, comparisons, and the scores of one run.

mod counts;
mod entries;

use std::collections::HashSet;
use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma, Verdict};
use swe_ci_core::recovery::recoveries;
use swe_ci_core::requirement::Mode;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_store::IterationRow;
use swe_ci_views::figures::{Basis, Data, Figure, MOST_RUNS, Study};
use swe_ci_views::leaderboard::{
    Board, Entry, GateReport, GateRules, Incomparable, LeaderboardData, Matrix, Published, Ranking,
    RecoveryTime, Row, Scores, TaskOrder, Unseen, Versus,
};
use swe_ci_views::view::RunSummary;

use crate::Engine;
use crate::api::runs::by_evolution;
use crate::leaderboard_cache::RankingKey;
use crate::published::published;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The results of the runs on a board.
    pub async fn leaderboard_data(&self, board: impl Into<Board>) -> Result<Arc<LeaderboardData>> {
        let board = board.into();
        let key = (board.clone(), self.state_of(&board).await?);
        let engine = self.clone();
        let computation = Box::pin(async move { engine.compute_leaderboard(board).await });
        self.leaderboards.leaderboards.of(key, computation).await
    }

    /// The change counter of everything that pages show; derived data is valid
    /// as long as it stands still.
    pub async fn changes(&self) -> Result<i64> {
        self.store.changes().await
    }

    /// [`Self::changes`] for pages that show what was read of recordings as well.
    pub async fn changes_and_digests(&self) -> Result<i64> {
        self.store.changes_and_digests().await
    }

    /// The change counter that the data of a board is valid for: a snapshot never
    /// changes.
    async fn state_of(&self, board: &Board) -> Result<i64> {
        match board.snapshot {
            Some(_) => Ok(0),
            None => self.changes().await,
        }
    }

    /// Results known only from publication; uses no database.
    pub fn published(&self) -> &'static Published {
        published()
    }

    /// The part of the leaderboard data that no model can have seen in
    /// training.
    pub async fn unseen(&self, board: impl Into<Board>) -> Result<Arc<Unseen>> {
        let board = board.into();
        let key = (board.clone(), self.state_of(&board).await?);
        let engine = self.clone();
        let computation = Box::pin(async move {
            let leaderboard = engine.leaderboard_data(board).await?;
            Ok(blocking(move || Ok(leaderboard.unseen())).await?)
        });
        self.leaderboards.unseen.of(key, computation).await
    }

    /// The ranking of a board; if `unseen`, counting only tasks younger than
    /// the model.
    pub async fn ranking(
        &self,
        board: impl Into<Board>,
        gamma: Gamma,
        convention: Convention,
        unseen: bool,
    ) -> Result<Arc<Ranking>> {
        let board = board.into();
        let key = RankingKey {
            board: board.clone(),
            changes: self.state_of(&board).await?,
            gamma: gamma.get().to_bits(),
            convention,
            unseen,
        };
        let engine = self.clone();
        let computation = Box::pin(async move {
            let data = match unseen {
                true => engine.unseen(board).await?.data.clone(),
                false => engine.leaderboard_data(board).await?,
            };
            let processors = &engine.leaderboards.processors;
            processors
                .compute(move || Ranking::new(data, gamma, convention))
                .await
        });
        self.leaderboards.rankings.of(key, computation).await
    }

    /// All rows of the ranking of a board with their intervals.
    pub async fn ranked(
        &self,
        board: impl Into<Board>,
        gamma: Gamma,
        convention: Convention,
        unseen: bool,
    ) -> Result<Vec<Row>> {
        let ranking = self.ranking(board, gamma, convention, unseen).await?;
        self.rows(&ranking, (0..ranking.rows().len()).collect())
            .await
    }

    /// The rows of a ranking at these indices, with their intervals.
    pub async fn rows(&self, ranking: &Arc<Ranking>, places: Vec<usize>) -> Result<Vec<Row>> {
        let ranking = ranking.clone();
        let processors = &self.leaderboards.processors;
        processors
            .compute(move || ranking.with_intervals(places))
            .await
    }

    /// The best runs of a ranking, at most this many, for pictures of them.
    pub async fn study(&self, ranking: &Arc<Ranking>, most: usize) -> Result<Study> {
        let ranking = ranking.clone();
        let processors = &self.leaderboards.processors;
        processors.compute(move || Study::of(&ranking, most)).await
    }

    /// The data of figures as pages show them: of the best runs of a ranking.
    pub async fn figures(
        &self,
        ranking: &Arc<Ranking>,
        which: Vec<Figure>,
    ) -> Result<(Basis, Vec<(Figure, Data)>)> {
        let study = self.study(ranking, MOST_RUNS).await?;
        let data = move || {
            let figures = which
                .into_iter()
                .map(|figure| (figure, figure.data(&study)));
            (study.basis(), figures.collect())
        };
        self.leaderboards.processors.compute(data).await
    }

    /// Every task of a board against every run; if `unseen`, each run only on the
    /// tasks that its model cannot have seen.
    pub async fn matrix(
        &self,
        board: impl Into<Board>,
        gamma: Gamma,
        convention: Convention,
        order: TaskOrder,
        unseen: bool,
    ) -> Result<Matrix> {
        let leaderboard = match unseen {
            true => self.unseen(board).await?.data.clone(),
            false => self.leaderboard_data(board).await?,
        };
        let matrix = move || leaderboard.matrix(gamma, convention, order);
        self.leaderboards.processors.compute(matrix).await
    }

    /// Runs of one split side by side, with the evolutions of one task if
    /// requested; if `unseen`, only on the tasks that no model of them can have
    /// seen; of a `snapshot`, as they were on its day.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run or no such task,
    /// [`Error::Invalid`] with the reason when these runs cannot be compared.
    pub async fn compare(
        &self,
        run_ids: &[String],
        gamma: Gamma,
        convention: Convention,
        task: Option<&TaskId>,
        unseen: bool,
        snapshot: Option<&str>,
    ) -> Result<Versus> {
        let leaderboard = match snapshot {
            Some(day) => self.comparable_on(run_ids, day).await?,
            None => self.comparable(run_ids).await?,
        };
        let (run_ids, task) = (run_ids.to_vec(), task.cloned());
        let comparison = move || {
            let leaderboard = match unseen {
                true => leaderboard.unseen().data,
                false => leaderboard,
            };
            leaderboard.versus(&run_ids, gamma, convention, task.as_ref())
        };
        let comparison = self.leaderboards.processors.compute(comparison);
        comparison.await?.map_err(|why| match why {
            Incomparable::NoSuchTask(id) => Error::not_found("shared task", id),
            why => invalid(&why),
        })
    }

    /// Whether the run `candidate` loses no more against the run `baseline` than
    /// the rules allow. They need not be on a leaderboard, nor have scores yet.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run, [`Error::Invalid`] with the
    /// reason when the rules are out of range or these runs cannot be compared.
    pub async fn gate(
        &self,
        baseline: &str,
        candidate: &str,
        rules: GateRules,
        gamma: Gamma,
        convention: Convention,
    ) -> Result<GateReport> {
        rules
            .check()
            .map_err(|(name, must)| Error::Invalid(format!("`{name}` must be {must}")))?;
        let ids = [candidate.to_owned(), baseline.to_owned()];
        let mut leaderboard = self.comparable(&ids).await?;
        for id in &ids {
            if !leaderboard.has(id) {
                let entry = self.entry_beside(id).await?;
                Arc::make_mut(&mut leaderboard).add_beside(entry);
            }
        }
        let [candidate, baseline] = ids;
        let report = move || leaderboard.gate(&baseline, &candidate, rules, gamma, convention);
        let report = self.leaderboards.processors.compute(report);
        report.await?.map_err(|why| invalid(&why))
    }

    /// Why a run that is over takes no rank on its board, private or not.
    pub(crate) async fn without_rank(&self, run: &RunSummary) -> Result<Option<Unranked>> {
        let board = self.leaderboard_data(Board::of(&run.config)).await?;
        Ok(board.why_unranked(&self.entry_beside(&run.run_id).await?))
    }

    /// The data of runs that may be compared.
    async fn comparable(&self, run_ids: &[String]) -> Result<Arc<LeaderboardData>> {
        // Checked before the database: the list may be of any length.
        Incomparable::check(run_ids).map_err(|why| invalid(&why))?;
        let mut boards: Vec<(String, Board)> = Vec::new();
        for id in run_ids {
            let run = self.visible_run(id).await?;
            boards.push((run.run_id, Board::of(&run.config)));
        }
        let splits = boards
            .iter()
            .map(|(id, board)| (id.clone(), board.split.clone()));
        Incomparable::check_splits(&splits.collect::<Vec<_>>()).map_err(|why| invalid(&why))?;
        let elsewhere = boards
            .iter()
            .find(|(_, board)| board.handover != boards[0].1.handover);
        if let Some((other, _)) = elsewhere {
            return Err(invalid(&Incomparable::Starts {
                first: boards[0].0.clone(),
                other: other.clone(),
            }));
        }
        self.compared(boards).await
    }

    /// The data of runs in the snapshot of a day that has them all. They need not
    /// exist any more.
    async fn comparable_on(&self, run_ids: &[String], day: &str) -> Result<Arc<LeaderboardData>> {
        Incomparable::check(run_ids).map_err(|why| invalid(&why))?;
        let mut snapshots = self.store.snapshots().await?;
        snapshots.retain(|snapshot| snapshot.day == day);
        // Mostly the first run is still there; then no other split is unpacked.
        let known = self.visible_run(&run_ids[0]).await.ok();
        let split = known.map(|run| run.config.split);
        snapshots.sort_by_key(|snapshot| split.as_ref() != Some(&snapshot.split));
        for snapshot in snapshots {
            let mut boards = Vec::new();
            for mode in Mode::ALL {
                let board = Board::new(&snapshot.split, mode).on(Some(day.to_owned()));
                boards.push((board.clone(), self.leaderboard_data(board).await?));
            }
            let has = |id: &String| {
                let of = boards.iter().find(|(_, data)| data.has(id));
                of.map(|(board, _)| (id.clone(), board.clone()))
            };
            if let Some(runs) = run_ids.iter().map(has).collect() {
                return self.compared(runs).await;
            }
        }
        Err(Error::not_found("snapshot of these runs", day))
    }

    /// The data of runs of one split: their leaderboard, or that of the first run
    /// with the runs of the other modes beside it.
    async fn compared(&self, runs: Vec<(String, Board)>) -> Result<Arc<LeaderboardData>> {
        let mut boards: Vec<Board> = runs.into_iter().map(|(_, board)| board).collect();
        let first = boards.remove(0);
        let mut data = self.leaderboard_data(first.clone()).await?;
        let mut seen = HashSet::from([first.clone()]);
        boards.retain(|board| seen.insert(board.clone()));
        for other in boards {
            let other = self.leaderboard_data(other).await?;
            Arc::make_mut(&mut data).add_other_mode(&other);
        }
        Ok(data)
    }

    /// All scores of one run. Without a scored evolution, the scores have no
    /// numbers.
    pub async fn scores(
        &self,
        run_id: &str,
        gamma: Gamma,
        convention: Convention,
    ) -> Result<Scores> {
        let run = self.visible_run(run_id).await?;
        let entry = self.entry(run_id).await?;
        let recovery = match convention {
            Convention::Paper => *self.recovery(run_id).await?,
            Convention::Reference => None,
        };
        let entry = entry.unwrap_or_else(|| Entry::none(run.config.plan.max_iterations));
        let scores = move || entry.all_scores(gamma, convention);
        let scores = self.leaderboards.processors.compute(scores).await?;
        Ok(Scores { recovery, ..scores })
    }

    /// How long the regressions of a run lasted; `None` when the names of its
    /// tests are unknown. All its outcomes are read once for each revision of its
    /// results.
    async fn recovery(&self, run_id: &str) -> Result<Arc<Option<RecoveryTime>>> {
        let revision = self.store.leaderboard_run(run_id).await?.revision;
        let (engine, id) = (self.clone(), run_id.to_owned());
        let computation = Box::pin(async move { engine.compute_recovery(&id).await });
        let key = (run_id.to_owned(), revision);
        self.leaderboards.recoveries.of(key, computation).await
    }

    async fn compute_recovery(&self, run_id: &str) -> Result<Option<RecoveryTime>> {
        let mut iterations = by_evolution(self.store.iterations_of_run(run_id).await?);
        let mut all = Vec::new();
        for evolution in self.store.evolutions_of_run(run_id).await? {
            if !evolution.ending.is_some_and(Ending::is_scored) {
                continue;
            }
            if evolution.counts.counts_only {
                return Ok(None);
            }
            let base = self.store.suite(&evolution.suite).await?.base_outcomes;
            let rows = iterations.remove(&evolution.id).unwrap_or_default();
            let scored = |row: &IterationRow| matches!(row.verdict, Verdict::Scored { .. });
            let outcomes = rows.iter().map(|row| scored(row).then_some(&row.outcomes));
            all.extend(recoveries(&base, &outcomes.collect::<Vec<_>>()));
        }
        Ok(Some(RecoveryTime::of(&all)))
    }
}

fn invalid(why: &Incomparable) -> Error {
    Error::Invalid(why.to_string())
}
