//! Limits how often an address may try to sign in. A wrong password locks its
//! account; this limit is for clients that try many accounts.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Extensions;
use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use swe_ci_engine::Error;

use crate::client_address::ClientAddress;

/// Tries allowed at once, …
const BURST: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// … and then one in this period.
const PERIOD: Duration = Duration::from_secs(6);

/// The number of addresses to track; the others share one count.
const MAX_ADDRESSES: usize = 10_000;

/// Tries by address. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    tries: Arc<RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>>,
    clock: DefaultClock,
}

impl Limits {
    pub(super) fn new() -> Self {
        // Only a period of zero is no quota.
        let quota = Quota::with_period(PERIOD).unwrap_or(Quota::per_minute(BURST));
        Self {
            tries: Arc::new(RateLimiter::hashmap(quota.allow_burst(BURST))),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a try by the client of a request.
    ///
    /// # Errors
    /// [`Error::TooMany`] with the time until the next try.
    pub(super) fn check(&self, extensions: &Extensions) -> Result<(), Error> {
        let client = extensions.get::<ClientAddress>();
        let mut key = client.map_or(UNKNOWN_ADDRESS, |client| key(client.0));
        if self.tries.len() >= MAX_ADDRESSES {
            self.tries.retain_recent();
            self.tries.shrink_to_fit();
            if self.tries.len() >= MAX_ADDRESSES {
                key = UNKNOWN_ADDRESS;
            }
        }
        self.tries.check_key(&key).map_err(|until| Error::TooMany {
            retry_after: until.wait_time_from(self.clock.now()),
        })
    }
}

/// Stands for all unknown addresses.
const UNKNOWN_ADDRESS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// A client with one IPv6 address has the 2⁶⁴ around it.
fn key(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(client) => Ipv6Addr::from_bits(client.to_bits() >> 64 << 64).into(),
        client => client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_version_6_count_as_one() {
        let check = |peer: &str, expect: &str| {
            assert_eq!(
                key(peer.parse().unwrap()),
                expect.parse::<IpAddr>().unwrap()
            );
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
    }

    #[test]
    fn tries_are_counted_by_address() {
        let limits = Limits::new();
        let from = |peer: [u8; 4]| {
            let mut extensions = Extensions::new();
            extensions.insert(ClientAddress(peer.into()));
            extensions
        };
        for _ in 0..BURST.get() {
            assert!(limits.check(&from([192, 0, 2, 1])).is_ok());
        }
        let Err(Error::TooMany { retry_after }) = limits.check(&from([192, 0, 2, 1])) else {
            panic!("one more than allowed");
        };
        assert!(retry_after <= PERIOD, "{retry_after:?}");
        assert!(limits.check(&from([192, 0, 2, 2])).is_ok());
    }

    #[test]
    fn the_number_of_tracked_addresses_is_limited() {
        let limits = Limits::new();
        let peers = (0..).map(std::net::Ipv4Addr::from_bits);
        for peer in peers.take(MAX_ADDRESSES + 100) {
            let mut extensions = Extensions::new();
            extensions.insert(ClientAddress(peer.into()));
            // Later addresses share a count that is soon used up.
            let _ = limits.check(&extensions);
        }
        assert!(limits.tries.len() <= MAX_ADDRESSES + 1);
    }
}
