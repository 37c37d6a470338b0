//! Test doubles: a scripted LLM with all four protocols, and a dataset hub.

pub mod hub;
pub mod scripted;
