//! What the card of each page says: the picture that stands beside a link to
//! it. Pure functions of what the pages show.

mod plain;

mod standings;

mod work;

pub use plain::{PLAIN, Plain};
pub use standings::{best_run, comparison, figure, leaderboard, model, run};
pub use work::{evolution, iteration, task};
