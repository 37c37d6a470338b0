//! Parts of pages. Each takes plain data or signals of it.
//!
//! None of them writes a `style` attribute: the content security policy forbids
//! inline styles. Lengths that depend on data are SVG attributes.

mod account_menu;
mod action_button;
mod choice;
mod confirmation;
mod empty;
mod field;
mod funnel;
mod gamma_form;
mod iterations;
mod list_table;
mod loaded;
mod meter;
mod page_head;
mod picture;
mod popup;
mod problem;
mod provider_buttons;
mod score_bar;
mod spread;
mod tag;
mod term;
mod theme_switch;
mod time;

pub use account_menu::{AccountMenu, SignIn};
pub use action_button::{ActionButton, HiddenFields, PostForm};
pub use choice::{Choice, Choices};
pub use confirmation::{Confirmation, Refusal, ShownOnce};
pub use empty::{Empty, NoRuns, NoTasks};
pub use field::{Field, NewPassword, RoleSelect};
pub use funnel::Funnel;
pub use gamma_form::GammaForm;
pub use iterations::Iterations;
pub use list_table::{ItemTable, ListTable, NextPage};
pub use loaded::loaded;
pub use meter::Meter;
pub use page_head::{PageHead, PageTop};
pub use picture::Picture;
pub use popup::Popup;
pub use problem::Problem;
pub use provider_buttons::ProviderButtons;
pub use score_bar::{Hatching, PublishedBar, ScoreBar, floor_of};
pub use spread::{SpreadChart, title as spread_title};
pub use tag::{Tag, Tone};
pub use term::{Explained, Key, Term, heading};
pub use theme_switch::{THEME_SCRIPT, ThemeSwitch};
pub use time::Time;
