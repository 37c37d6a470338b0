use swe_ci_core::csv::{table, text};
use swe_ci_core::uncertainty::{Comparison, Interval};

use super::{AfterIteration, HandoverCell, HandoverMatrix};

const COLUMNS: &str = "split,target,after,written_by,written_by_kind,written_by_run,writer_went_on_with,continued_by,harness,mode,run_id,\
    tasks,left_out,iteration,closed_gap,closed_gap_low,closed_gap_high,lost,lost_low,lost_high,tokens,usd,\
    against_own,against_own_low,against_own_high,against_own_p,against_own_tasks,\
    against_human,against_human_low,against_human_high,against_human_p,against_human_tasks";

impl HandoverMatrix {
    /// A line for each pair and iteration (RFC 4180, with a header). Unknown
    /// values are empty.
    pub fn csv(&self) -> String {
        let lines = self.cells.iter().flat_map(|cell| {
            let after = cell.by_iteration.iter();
            after.map(move |after| self.line(cell, after))
        });
        table(COLUMNS.split(','), lines)
    }

    fn line(&self, cell: &HandoverCell, after: &AfterIteration) -> Vec<String> {
        let writer = &self.writers[cell.writer as usize];
        let continuer = &self.continuers[cell.continuer as usize];
        let mut line = vec![
            text(&self.split),
            self.target.name().to_owned(),
            self.after.to_string(),
            text(&writer.model),
            writer.kind.name().to_owned(),
            text(&writer.run_id),
            text(writer.went_on_with.as_deref().unwrap_or_default()),
            text(&continuer.model),
            text(&continuer.harness),
            continuer.mode.name().to_owned(),
            text(&cell.run_id),
            cell.tasks.to_string(),
            cell.left_out.to_string(),
            after.iteration.to_string(),
            after.closed_gap.to_string(),
        ];
        line.extend(ends(after.closed_gap_interval));
        line.push(after.lost.to_string());
        line.extend(ends(after.lost_interval));
        line.extend([number(after.tokens), number(after.usd)]);
        line.extend(difference(after.against_own));
        line.extend(difference(after.against_human));
        line
    }
}

fn ends(interval: Option<Interval>) -> [String; 2] {
    [interval.map(|i| i.low), interval.map(|i| i.high)].map(number)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn difference(comparison: Option<Comparison>) -> [String; 5] {
    let [low, high] = ends(comparison.and_then(|c| c.interval));
    [
        number(comparison.map(|c| c.difference)),
        low,
        high,
        number(comparison.map(|c| c.p_value)),
        comparison.map_or_else(String::new, |c| c.tasks.to_string()),
    ]
}
