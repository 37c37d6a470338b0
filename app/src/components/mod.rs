//! Parts of pages. Each takes plain data or signals of it.
//!
//! None of them writes a `style` attribute: the content security policy forbids
//! inline styles. Lengths that depend on data are SVG attributes.

mod bars;
mod choice;
mod forms;
mod funnel;
mod header;
mod iterations;
mod list_table;
mod loaded;
mod page_head;
mod picture;
mod popup;
mod spread;
mod tag;
mod term;

pub use bars::{Hatching, Meter, PublishedBar, ScoreBar, floor_of};
pub use choice::{Choice, Choices, GammaForm};
pub use forms::{
    ActionButton, Confirmation, Field, HiddenFields, LongText, NewPassword, PostForm,
    ProviderButtons, Refusal, RoleSelect, ShownOnce, TomlFile,
};
pub use funnel::Funnel;
pub use header::{AccountMenu, SignIn, THEME_SCRIPT, ThemeSwitch};
pub use iterations::Iterations;
pub use list_table::{CardTable, ItemTable, ListTable, NextPage, fact};
pub use loaded::{Empty, NoRuns, NoTasks, Problem, loaded};
pub use page_head::{PageHead, PageTop, crumb};
pub use picture::Picture;
pub use popup::Popup;
pub use spread::{SpreadChart, title as spread_title};
pub use tag::{Tag, Time, Tone};
pub use term::{Explained, Key, Term, heading};
