//! Results known only from the publication of the benchmark's authors: seed
//! data, compiled in.

use std::sync::LazyLock;

use swe_ci_views::leaderboard::{Published, PublishedRow};

/// The largest reading error: the axis of the figure has a tick every 0.1, and
/// a marker's centre can be measured to a pixel.
const EVOSCORE_ERROR: f64 = 0.003;

/// Where the numbers come from.
const SOURCE: &str = "EvoScore and release dates as published, read off the benchmark authors' result figure \
    (the paper's Figure 4, July 2025 to February 2026) by measuring marker centres against the axis ticks: \
    EvoScore ± 0.003, dates ± 2 days. Zero-regression rates as quoted from the paper's Figure 6.";

const CSV: &str = include_str!("../data/published.csv");

static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    let mut reader = csv::Reader::from_reader(CSV.as_bytes());
    let rows: Result<Vec<PublishedRow>, csv::Error> = reader.deserialize().collect();
    let mut rows = rows.expect("a test checks the seed data");
    rows.sort_by(|a, b| b.evoscore.total_cmp(&a.evoscore));
    Published {
        split: "default".into(),
        tasks: 100,
        source: SOURCE.into(),
        evoscore_error: EVOSCORE_ERROR,
        rows,
    }
});

/// All published results, best first.
pub fn published() -> &'static Published {
    &PUBLISHED
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::run::is_day;

    #[test]
    fn the_seed_data_can_be_used() {
        let published = published();
        assert_eq!(published.rows.len(), 18);
        assert_eq!(published.rows[0].model, "Claude-Opus-4.6");
        for row in &published.rows {
            let shares = [Some(row.evoscore), row.zero_regression_rate];
            assert!(
                shares
                    .into_iter()
                    .flatten()
                    .all(|v| (0.0..=1.0).contains(&v))
            );
            assert!(is_day(&row.release_date), "{}", row.release_date);
            assert!(!row.model.is_empty() && !row.provider.is_empty());
        }
        let known = published
            .rows
            .iter()
            .filter(|r| r.zero_regression_rate.is_some());
        assert_eq!(known.count(), 5);
    }
}
