//! The best change by interval of turns: Figure 12.

use swe_ci_core::metrics::Bin;

use super::{Line, Lines, Study};

#[must_use]
pub fn best_change(study: &Study<'_>) -> Lines {
    let mut longest: Vec<Bin> = Vec::new();
    let mut lines = Vec::new();
    for (run, entry, _) in study.runs() {
        let bins = entry.profile(study.convention).bins;
        lines.push(Line {
            run,
            values: bins.iter().map(|bin| bin.best_change).collect(),
        });
        let end = |bins: &[Bin]| bins.last().map(|bin| bin.to);
        if end(&bins) > end(&longest) {
            longest = bins;
        }
    }
    let name = |bin: &Bin| match bin {
        bin if bin.from == bin.to => bin.to.to_string(),
        bin => format!("{}–{}", bin.from, bin.to),
    };
    Lines {
        along: "turns".into(),
        value: "Best change so far".into(),
        prefix: "turns".into(),
        steps: longest.iter().map(name).collect(),
        lines,
    }
    .sorted()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// N is 5, so the bins are 1–4 and 5. The best of the first task is 0.4
    /// after four turns and 1 after five, of the second 0.2 throughout.
    #[test]
    fn by_hand() {
        let data = leaderboard(&[RunSpec::new("a", &[&[0.1, 0.4, 0.0, 0.2, 1.0], &[0.2]])]);
        with_study(&data, 1.0, |study| {
            let lines = best_change(study);
            assert_eq!(lines.steps, ["1–4", "5"]);
            let values = &lines.lines[0].values;
            assert!((values[0] - 0.3).abs() < 1e-12 && (values[1] - 0.6).abs() < 1e-12);
            let csv = lines.table().csv();
            assert!(csv.starts_with("model,provider,run_id,kind,turns_1_4,turns_5\r\n"));
        });
    }
}
