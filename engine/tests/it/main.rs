//! The whole engine on tiny tasks, in real containers.

mod agents;
mod containers;
mod evolutions;
mod fixture;
mod gateway;
mod imports;
mod isolation;
