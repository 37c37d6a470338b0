//! Selects the candidates that become tasks (the paper, section 3.1, step 4):
//! ranked by the time and the commits between their ends, the best of each
//! repository and of all.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::plan::Filter;

#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub task: String,
    pub repository: u32,
    pub days: f64,
    pub commits: u32,
    pub modified_lines: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    Repository,
    All,
}

/// The selected tasks, best first, and the reason for each other one. A task's
/// rank is the sum of its ranks by days and by commits; lines, and then names,
/// break ties.
pub fn choose(mut all: Vec<Ranked>, filter: &Filter) -> (Vec<String>, Vec<(String, Beyond)>) {
    let by_days = ranks(&all, |a| ordered(a.days));
    let by_commits = ranks(&all, |a| u64::from(a.commits));
    all.sort_by_cached_key(|a| {
        let rank = by_days[&a.task] + by_commits[&a.task];
        (rank, Reverse(a.modified_lines), a.task.clone())
    });
    let mut of_repository: HashMap<u32, usize> = HashMap::new();
    let (mut selected, mut rejected) = (Vec::new(), Vec::new());
    for ranked in all {
        let so_far = of_repository.entry(ranked.repository).or_default();
        if *so_far >= filter.most_per_repository {
            rejected.push((ranked.task, Beyond::Repository));
        } else if selected.len() >= filter.most {
            rejected.push((ranked.task, Beyond::All));
        } else {
            *so_far += 1;
            selected.push(ranked.task);
        }
    }
    (selected, rejected)
}

/// The rank of each, from 1 for the largest; equals share the better one.
fn ranks(all: &[Ranked], key: impl Fn(&Ranked) -> u64) -> HashMap<String, usize> {
    let rank = |one: &Ranked| 1 + all.iter().filter(|other| key(other) > key(one)).count();
    all.iter()
        .map(|one| (one.task.clone(), rank(one)))
        .collect()
}

/// Days in a form with a total order; they are never negative.
fn ordered(days: f64) -> u64 {
    (days.max(0.0) * 1_000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_each_repository_and_of_all() {
        let one = |task: &str, repository, days, commits| Ranked {
            task: task.into(),
            repository,
            days,
            commits,
            modified_lines: 0,
        };
        let all = vec![
            one("short", 1, 1.0, 1),
            one("long", 1, 900.0, 200),
            one("busy", 1, 100.0, 900),
            one("other", 2, 90.0, 80),
        ];
        let check = |most_per_repository, most, expect: &str, left: &[(&str, Beyond)]| {
            let filter = Filter {
                most_per_repository,
                most,
                ..Filter::default()
            };
            let (selected, others) = choose(all.clone(), &filter);
            assert_eq!(selected.join(" "), expect);
            let others: Vec<(&str, Beyond)> =
                others.iter().map(|(t, b)| (t.as_str(), *b)).collect();
            assert_eq!(others, left);
        };
        use Beyond::{All, Repository};
        check(9, 9, "busy long other short", &[]);
        check(
            1,
            9,
            "busy other",
            &[("long", Repository), ("short", Repository)],
        );
        check(2, 2, "busy long", &[("other", All), ("short", Repository)]);
    }
}
