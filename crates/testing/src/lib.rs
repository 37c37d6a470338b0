//! Test doubles: a scripted LLM with all four protocols, and a dataset hub. And
//! how benchmarks report.

pub mod hub;
pub mod measurements;
pub mod scripted;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it even after a panic of another test.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
