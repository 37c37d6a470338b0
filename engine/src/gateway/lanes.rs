//! How many requests a provider is asked at once, found out by trying: twice
//! as many for every round of answers until it says "too many"; then half as
//! many, and from there one more for every round.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Where a provider nothing is known of begins.
const FIRST: usize = 4;
const MOST: usize = 512;
/// Refusals within this time answer the same burst and count once.
const ONE_BURST: Duration = Duration::from_secs(1);

/// The lanes to all providers, one for each address and key.
#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<HashMap<Name, Arc<Lane>>>);

/// Address, and name of the key.
type Name = (String, Option<String>);

impl Lanes {
    pub fn to(&self, url: &str, key: Option<&str>) -> Arc<Lane> {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (url.to_owned(), key.map(str::to_owned));
        lanes.entry(name).or_default().clone()
    }
}

/// Requests to one provider with one key.
#[derive(Debug)]
pub(super) struct Lane {
    /// First come, first served.
    places: Arc<Semaphore>,
    width: Mutex<Width>,
}

#[derive(Debug)]
struct Width {
    /// Has fractions, so that it can take a round of answers to widen by one.
    limit: f64,
    /// Places there are, taken ones included.
    places: usize,
    narrowed: Option<Instant>,
}

/// A place in a lane, held while a request is under way.
#[derive(Debug)]
pub(super) struct Place {
    lane: Arc<Lane>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(FIRST)),
            width: Mutex::new(Width {
                limit: FIRST as f64,
                places: FIRST,
                narrowed: None,
            }),
        }
    }
}

impl Lane {
    pub async fn place(self: &Arc<Self>) -> Place {
        // The semaphore is never closed.
        let permit = self.places.clone().acquire_owned().await.ok();
        Place {
            lane: self.clone(),
            permit,
        }
    }

    /// The provider answered.
    pub fn widen(&self) {
        let mut width = self.width();
        let step = match width.narrowed {
            Some(_) => 1.0 / width.limit,
            None => 1.0,
        };
        width.limit = (width.limit + step).min(MOST as f64);
        let wanted = whole(width.limit);
        if wanted > width.places {
            self.places.add_permits(wanted - width.places);
            width.places = wanted;
        }
    }

    /// The provider said that it is asked too much.
    pub fn narrow(&self) {
        let mut width = self.width();
        if width.narrowed.is_some_and(|at| at.elapsed() < ONE_BURST) {
            return;
        }
        width.narrowed = Some(Instant::now());
        width.limit = (width.limit / 2.0).max(1.0);
        let surplus = width.places - whole(width.limit);
        // Those that are taken go when they are given back.
        width.places -= self.places.forget_permits(surplus);
    }

    #[cfg(test)]
    fn limit(&self) -> usize {
        whole(self.width().limit)
    }

    fn width(&self) -> MutexGuard<'_, Width> {
        self.width.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut width = self.lane.width();
        if width.places > whole(width.limit)
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
            width.places -= 1;
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and MOST"
)]
fn whole(limit: f64) -> usize {
    limit as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn it_widens_by_rounds_and_narrows_by_half() {
        let lane = Arc::new(Lane::default());
        let mut places = Vec::new();
        for _ in 0..FIRST {
            places.push(lane.place().await);
        }
        assert!(lane.place().now_or_never().is_none());
        for _ in 0..FIRST {
            lane.widen();
        }
        assert_eq!(lane.limit(), 2 * FIRST, "unknown, it doubles by the round");
        places.push(lane.place().now_or_never().unwrap());
        lane.narrow();
        lane.narrow();
        assert_eq!(lane.limit(), FIRST, "one burst counts once");
        // One of the five taken places goes; then there are four.
        places.pop();
        assert!(lane.place().now_or_never().is_none());
        places.pop();
        assert!(lane.place().now_or_never().is_some());
        for _ in 0..FIRST {
            lane.widen();
        }
        assert_eq!(lane.limit(), FIRST, "nearly one more, after a round");
        lane.widen();
        assert_eq!(lane.limit(), FIRST + 1);
    }
}
