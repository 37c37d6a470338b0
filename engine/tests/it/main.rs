//! The whole engine on tiny tasks, in real containers.

mod containers;
mod evolutions;
mod fixture;
mod imports;
mod isolation;
