//! One folder per page.

mod leaderboard;

mod runs;

mod run;

mod evolution;

mod iteration;

mod tasks;

mod task;

mod matrix;

mod compare;

mod model;

mod figures;

mod about;

mod not_found;

pub mod lazy;

pub mod cards;

mod words;

pub use about::AboutPage;
pub use compare::ComparePage;
pub use evolution::EvolutionPage;
pub use figures::{EmbedPage, FiguresPage};
pub use iteration::IterationPage;
pub use leaderboard::LeaderboardPage;
pub use matrix::MatrixPage;
pub use model::ModelPage;
pub use not_found::NotFoundPage;
pub use run::RunPage;
pub use runs::RunsPage;
pub use task::TaskPage;
pub use tasks::TasksPage;
