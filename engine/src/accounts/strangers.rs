use quick_cache::sync::Cache;
use swe_ci_core::credentials::lock_seconds;

/// So many names are remembered; names come from anybody.
const NAMES: usize = 1_000;

/// Names nobody has, which are locked as accounts are: else five wrong
/// passwords would tell who has an account.
#[derive(Debug)]
pub struct Strangers(Cache<String, Guesses>);

#[derive(Debug, Clone, Default)]
struct Guesses {
    failures: u32,
    /// Unix milliseconds.
    locked_until: i64,
}

impl Default for Strangers {
    fn default() -> Self {
        Self(Cache::new(NAMES))
    }
}

impl Strangers {
    /// Counts a guess at the moment `now`; where none is looked at, until when.
    pub fn locked(&self, name: &str, now: i64) -> Option<i64> {
        let before = self.0.get(name).unwrap_or_default();
        if before.locked_until > now {
            return Some(before.locked_until);
        }
        let failures = before.failures.saturating_add(1);
        let lock = i64::try_from(lock_seconds(failures) * 1_000).unwrap_or(i64::MAX);
        let guesses = Guesses {
            failures,
            locked_until: now.saturating_add(lock),
        };
        self.0.insert(name.to_owned(), guesses);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_as_accounts_are() {
        let strangers = Strangers::default();
        for second in 0..5 {
            assert_eq!(strangers.locked("ada", second * 1_000), None);
        }
        assert_eq!(strangers.locked("ada", 5_000), Some(64_000));
        assert_eq!(strangers.locked("bob", 5_000), None);
        assert_eq!(strangers.locked("ada", 64_000), None);
        assert_eq!(strangers.locked("ada", 64_001), Some(184_000));
    }
}
