//! The whole product: the real binary, real containers, a real browser.

mod accounts;
mod agents;
mod axe;
mod browser;
mod clicks;
mod collector;
mod compare;
mod datasets;
mod durability;
mod elsewhere;
mod evolution;
mod figures;
mod findings;
mod journey;
mod keyboard;
mod leaderboard;
mod matrix;
mod pages;
mod product;
mod program;
mod reading;
mod readme;
mod style;
mod terms;
mod waiting;
mod world;
