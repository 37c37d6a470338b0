//! Evolutions from start to end: the harnesses of the agents, the three steps
//! of an iteration, and the queue whose workers run evolutions.

pub mod event_relay;
pub mod events;
pub mod evolve;
pub mod harness;
pub mod host_load;
pub mod idle_slots;
pub mod key_encryption;
pub mod provider_keys;
pub mod worker_slots;
