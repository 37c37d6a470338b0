//! What a person should know of a task before it is published: its real history
//! and its suite without code, in other orders, without a home folder and on
//! another day, and similar tasks elsewhere. (No suite has a network, ever.)

use swe_ci_base::code::CodeTree;
use swe_ci_base::error::Result;
use swe_ci_sandbox::images::ImageBuild;
use swe_ci_store::{CandidateRow, TaskRow};
use swe_ci_views::preparation::{Condition, Trial};

use crate::curator::{Curator, image_name};
use crate::unavailable;

const NO_HOME: &[&str] = &["ENV HOME=/nonexistent"];
/// The clock of the kernel is everybody's; this library changes what programs
/// read from it.
const LATER: &[&str] = &[
    "RUN export DEBIAN_FRONTEND=noninteractive; apt-get -o Acquire::Retries=5 update -qq && \
     apt-get -o Acquire::Retries=5 install -qq -y --no-install-recommends libfaketime && \
     ln -s /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/libfaketime.so.1",
    "ENV LD_PRELOAD=/usr/lib/libfaketime.so.1 FAKETIME=+400d FAKETIME_DONT_FAKE_MONOTONIC=1",
];

/// Lines of a failed build that the reason shows: those of apt stand before the
/// engine's own.
const LAST_LINES: usize = 10;

impl Curator<'_> {
    /// Looks at a selected candidate, unless that was done.
    pub(crate) async fn inspect(&self, candidate: &mut CandidateRow) -> Result<()> {
        let Some(mut row) = candidate.prepared.clone() else {
            return Ok(());
        };
        let store = self.curations.store;
        self.check_not_stopped()?;
        self.unless_stopped(self.look_at_history(&mut row))
            .await??;
        candidate.prepared = Some(row.clone());
        store.put_candidate(self.id, candidate).await?;
        let trying = self.try_conditions(&candidate.task_id, &mut row);
        self.unless_stopped(trying).await??;
        candidate.prepared = Some(row);
        store.put_candidate(self.id, candidate).await
    }

    async fn look_at_history(&self, row: &mut TaskRow) -> Result<()> {
        let chunks = self.plan.filter.replay;
        if chunks == 0 || !row.preparation.history.is_empty() {
            return Ok(());
        }
        let dataset = self.dataset();
        let preparation = self.preparation(&dataset);
        let history = preparation.replay(row, chunks).await?;
        let fails = history.iter().filter(|point| point.problem.is_some());
        let (id, all, fails) = (&row.id, history.len(), fails.count());
        (self.say)(format!(
            "{id}: {all} chunks of its history tested, {fails} without a result"
        ));
        let trivial = preparation.passing_without_code(row).await?;
        let similar = self.similar_task(row).await?;
        let found = &mut row.preparation;
        found.add_history(history);
        found.add_passing_without_code(&trivial.tests, trivial.of_gap);
        found.findings.extend(similar);
        Ok(())
    }

    async fn try_conditions(&self, task: &str, row: &mut TaskRow) -> Result<()> {
        let filter = &self.plan.filter;
        if !row.preparation.trials.is_empty() {
            return Ok(());
        }
        let dataset = self.dataset();
        let preparation = self.preparation(&dataset);
        let mut trials = Vec::new();
        if filter.shuffles > 0 {
            trials.push(preparation.try_orders(row, filter.shuffles).await?);
        }
        for (condition, lines) in [(Condition::Home, NO_HOME), (Condition::Clock, LATER)] {
            if !filter.conditions.contains(&condition) {
                continue;
            }
            let from = image_name(self.id, task);
            let tag = format!("{from}-{}", condition.name());
            let trial = match self.derive(&from, &tag, lines).await? {
                Ok(()) => preparation.try_image(row, condition, &tag).await,
                Err(why) => Ok(Trial::without_result(condition, 0, why)),
            };
            self.curations
                .images
                .untag(&tag)
                .await
                .map_err(unavailable)?;
            trials.push(trial?);
        }
        for trial in &trials {
            let result = trial.result();
            (self.say)(format!("{task}: {}: {result}", trial.condition.text()));
        }
        row.preparation.add_trials(trials);
        Ok(())
    }

    /// Makes an image from another one. Inside is why the image does not allow it.
    async fn derive(
        &self,
        from: &str,
        tag: &str,
        lines: &[&str],
    ) -> Result<std::result::Result<(), String>> {
        let spec = ImageBuild {
            tag,
            from,
            lines,
            files: CodeTree::default(),
            network: self.network,
            apart: true,
        };
        let mut last: Vec<String> = Vec::new();
        let on_line = |line: &str| {
            last.push(line.to_owned());
            last.drain(..last.len().saturating_sub(LAST_LINES));
        };
        let made = self.curations.images.make(spec, on_line).await;
        let made = made.map_err(unavailable)?.map(|_| ());
        Ok(made
            .map_err(|problem| format!("it could not be set up: {problem}\n{}", last.join("\n"))))
    }
}
