//! The gateway before a provider that misbehaves.
