//! The whole engine on tiny tasks, in real containers.

mod agents;
mod cheats;
mod check;
mod containers;
mod curation;
mod evolutions;
mod fixture;
mod floods;
mod gateway;
mod handover;
mod harbor;
mod imports;
mod isolation;
mod judge;
mod memory;
mod modes;
mod preflight;
mod programs;
mod regrade;
mod sandbox;
mod secrets;
mod steering;
mod storm;
mod style;
mod verify;
mod workers;
