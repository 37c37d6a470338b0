//! One folder per page.

mod leaderboard;

mod runs;

mod run;

mod iteration;

mod tasks;

mod task;

mod about;

mod not_found;

mod words;

pub use about::AboutPage;
pub use iteration::IterationPage;
pub use leaderboard::LeaderboardPage;
pub use not_found::NotFoundPage;
pub use run::RunPage;
pub use runs::RunsPage;
pub use task::TaskPage;
pub use tasks::TasksPage;
