//! EvoScore against release date: Figure 4.

use serde::{Deserialize, Serialize};
use swe_ci_core::day::is_day;
use swe_ci_core::metrics::Gamma;
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, LeftOut, Study, Subject, Table};
use crate::leaderboard::PublishedRow;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Releases {
    /// From the earliest to the latest.
    pub points: Vec<Released>,
    /// Published results: at γ = 1, and possibly on other tasks than the runs
    /// beside them. Empty at any other γ.
    pub published: Vec<PublishedRow>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Released {
    pub run: Subject,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// Its [`day_number`].
    pub day: i64,
    pub evoscore: f64,
    pub interval: Option<Interval>,
}

pub fn releases(study: &Study) -> Releases {
    let (mut points, left_out) = study.each("no release date is known", |run, entry, row| {
        let date = entry.release_date.as_deref()?;
        Some(Released {
            run,
            date: date.to_owned(),
            day: day_number(date)?,
            evoscore: row.evoscore,
            interval: row.intervals.map(|i| i.evoscore),
        })
    });
    points.sort_by(|a, b| {
        a.day
            .cmp(&b.day)
            .then_with(|| a.run.model.cmp(&b.run.model))
    });
    let mut published = study.data.published.rows.clone();
    // A published score holds for γ = 1; beside others it would mislead.
    published.retain(|row| study.gamma == Gamma::ONE && day_number(&row.release_date).is_some());
    published.sort_by(|a, b| a.release_date.cmp(&b.release_date));
    Releases {
        points,
        published,
        left_out,
    }
}

impl Releases {
    pub(super) fn table(&self) -> Table {
        let date = Column::new("release_date", "Released");
        let score = Column::with_interval("evoscore", "EvoScore");
        let rows = self.points.iter().map(|point| {
            let date = Cell::Text(point.date.clone());
            let score = Cell::with_interval(Some(point.evoscore), point.interval, 3);
            (&point.run, [date].into_iter().chain(score))
        });
        let mut table = Table::of_runs([date].into_iter().chain(score), rows);
        let published = |row: &PublishedRow| {
            let date = Cell::Text(row.release_date.clone());
            let score = Cell::with_interval(Some(row.evoscore), None, 3);
            Table::published(&row.model, &row.provider, [date].into_iter().chain(score))
        };
        table.rows.extend(self.published.iter().map(published));
        table
    }
}

/// Days from 1970-01-01 to a `YYYY-MM-DD` of the Gregorian calendar; `None` for
/// a day that the calendar does not have.
pub fn day_number(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-');
    let mut next = || parts.next()?.parse::<u32>().ok().map(i64::from);
    let (year, month, day) = (next()?, next()?, next()?);
    if year == 0 || !is_day(date) {
        return None;
    }
    // In years that start in March, the leap day comes last.
    let from_march = (month + 9) % 12;
    let year = if month <= 2 { year - 1 } else { year };
    let leap_days = year / 4 - year / 100 + year / 400;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    Some(year * 365 + leap_days + day_of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;
    use crate::leaderboard::Published;

    #[test]
    fn days() {
        let check = |date, expect| assert_eq!(day_number(date), expect, "{date}");
        check("1970-01-01", Some(0));
        check("2000-02-29", Some(11_016));
        check("2000-03-01", Some(11_017));
        check("2026-01-31", Some(20_484));
        check("2026-12-31", Some(20_818));
        for wrong in [
            "",
            "2026",
            "2026-13-01",
            "2026-00-01",
            "2026-01-x",
            "-1-1-1",
            "0000-01-01",
            "2026-02-31",
            "2026-02-29",
            "1900-02-29",
            "2026-04-31",
            "2026-01-32",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn by_hand() {
        let dated = |model, date, score: &'static [&'static [f64]]| RunSpec {
            date: Some(date),
            ..RunSpec::new(model, score)
        };
        let mut data = leaderboard(&[
            dated("new", "2026-02-01", &[&[0.8]]),
            dated("old", "2025-02-01", &[&[0.2]]),
            RunSpec::new("undated", &[&[0.5]]),
        ]);
        data.published = Published {
            rows: vec![PublishedRow {
                model: "theirs".into(),
                provider: "acme".into(),
                release_date: "2025-06-01".into(),
                evoscore: 0.4,
                zero_regression_rate: None,
            }],
            ..Published::default()
        };
        with_study(&data, 1.0, |study| {
            let data = releases(study);
            let models: Vec<&str> = data.points.iter().map(|p| p.run.model.as_str()).collect();
            assert_eq!(models, ["old", "new"]);
            assert!((data.points[1].evoscore - 0.8).abs() < 1e-12);
            assert_eq!(data.points[1].day - data.points[0].day, 365);
            assert_eq!(data.left_out.models, ["undated"]);
            let csv = data.table().csv();
            assert!(
                csv.contains("theirs,acme,,published,2025-06-01,0.4,,\r\n"),
                "{csv}"
            );
        });
        with_study(&data, 1.1, |study| {
            assert!(releases(study).published.is_empty());
        });
    }
}
