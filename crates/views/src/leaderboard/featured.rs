//! The runs that stand out of a ranking: in a chart of many, nobody can follow all.

use swe_ci_core::run::Kind;

use super::Row;

/// With no more models than this, all have one.
const FEW: usize = 8;
/// How many of the best have one otherwise.
const BEST: usize = 5;

/// The human baseline and the best models of a ranking.
pub fn featured(rows: &[Row]) -> Vec<&Row> {
    let is_human = |row: &&Row| row.kind == Kind::Human;
    let most = if rows.len() <= FEW { FEW } else { BEST };
    let models = rows.iter().filter(|row| !is_human(row)).take(most);
    rows.iter().filter(is_human).take(1).chain(models).collect()
}

/// The best model of a ranking; the human baseline where there is no model.
pub fn leader(rows: &[Row]) -> Option<&Row> {
    let model = rows.iter().find(|row| row.kind != Kind::Human);
    model.or(rows.first())
}

#[cfg(test)]
mod tests {
    use swe_ci_core::metrics::{Convention, Gamma};

    use super::*;
    use crate::testing::{leaderboard, spread_run};

    #[test]
    fn the_human_baseline_and_the_best_of_many() {
        let check = |models: usize, expect: usize| {
            let runs = (0..models).map(|i| {
                let mut run = spread_run(&format!("m{i}"), &[&[0.5 - 0.01 * i as f64]]);
                run.run_id = format!("r{i}");
                run
            });
            let mut runs: Vec<_> = runs.collect();
            let mut human = spread_run("human", &[&[-0.5]]);
            (human.kind, human.run_id) = (Kind::Human, "h".into());
            runs.push(human);
            let rows = leaderboard(runs).rank(Gamma::ONE, Convention::Paper);
            let chosen: Vec<&str> = featured(&rows).iter().map(|r| r.model.as_str()).collect();
            assert_eq!(chosen.len(), expect + 1);
            assert_eq!(chosen[..2], ["human", "m0"]);
            assert_eq!(leader(&rows).unwrap().model, "m0");
        };
        check(7, 7);
        check(8, 5);
        check(100, 5);
        assert!(featured(&[]).is_empty());
    }
}
