//! Lockouts of names without an account.

use quick_cache::sync::Cache;
use swe_ci_views::credentials::lock_seconds;

/// The number of names remembered; anybody can send names.
const NAMES: usize = 1_000;

/// Locks unknown names as accounts are locked: otherwise five wrong passwords
/// would disclose which names have an account.
#[derive(Debug)]
pub struct UnknownNameLockouts(Cache<String, Guesses>);

/// Failures, and until when they lock the name, in unix milliseconds.
type Guesses = (u32, i64);

impl Default for UnknownNameLockouts {
    fn default() -> Self {
        Self(Cache::new(NAMES))
    }
}

impl UnknownNameLockouts {
    /// Counts a guess at the moment `now`; if the name is locked, returns until
    /// when.
    pub fn locked(&self, name: &str, now: i64) -> Option<i64> {
        let (failures, locked_until) = self.0.get(name).unwrap_or_default();
        if locked_until > now {
            return Some(locked_until);
        }
        let failures = failures.saturating_add(1);
        let lock = i64::try_from(lock_seconds(failures) * 1_000).unwrap_or(i64::MAX);
        let guesses = (failures, now.saturating_add(lock));
        self.0.insert(name.to_owned(), guesses);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_as_accounts_are() {
        let lockouts = UnknownNameLockouts::default();
        for second in 0..5 {
            assert_eq!(lockouts.locked("ada", second * 1_000), None);
        }
        assert_eq!(lockouts.locked("ada", 5_000), Some(64_000));
        assert_eq!(lockouts.locked("bob", 5_000), None);
        assert_eq!(lockouts.locked("ada", 64_000), None);
        assert_eq!(lockouts.locked("ada", 64_001), Some(184_000));
    }
}
