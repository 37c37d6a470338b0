//! One folder per page.

mod leaderboard;

mod runs;

mod run;

mod evolution;

mod iteration;

mod style;

mod conversation;

mod tasks;

mod task;

mod datasets;

mod dataset;

mod curate;

mod curation;

mod disk;

mod matrix;

mod compare;

mod model;

mod figures;

mod about;

mod sign_in;

mod invitation;

mod account;

mod accounts;

mod audit;

mod keys;

mod notifications;

mod submit;

mod not_found;

pub mod lazy;

pub mod cards;

mod mark;

mod score;

mod splits;

mod routes;

pub use about::AboutPage;
pub use account::AccountPage;
pub use accounts::AccountsPage;
pub use audit::AuditPage;
pub use compare::ComparePage;
pub use conversation::ConversationPage;
pub use curate::CuratePage;
pub use curation::CurationPage;
pub use dataset::DatasetPage;
pub use datasets::DatasetsPage;
pub use disk::DiskPage;
pub use evolution::EvolutionPage;
pub use figures::{EmbedPage, FiguresPage};
pub use invitation::InvitationPage;
pub use iteration::IterationPage;
pub use keys::KeysPage;
pub use leaderboard::LeaderboardPage;
pub use matrix::MatrixPage;
pub use model::ModelPage;
pub use not_found::NotFoundPage;
pub use notifications::NotificationsPage;
pub use run::RunPage;
pub use runs::RunsPage;
pub use sign_in::SignInPage;
pub use style::StylePage;
pub use submit::SubmitPage;
pub use task::TaskPage;
pub use tasks::TasksPage;
