//! The content of each page's card, the picture beside links to it. Pure
//! functions of the pages' data.

mod plain;
mod standings;
mod work;

pub use plain::{PLAIN, Plain};
pub use standings::{best_run, comparison, figure, leaderboard, model, run};
pub use work::{evolution, iteration, task};
