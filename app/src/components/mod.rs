//! Parts of pages. Each takes plain data or signals of it.
//!
//! None of them writes a `style` attribute: the content security policy forbids
//! inline styles. Lengths that depend on data are SVG attributes.

mod bars;
mod charts;
mod choice;
mod cite;
mod deletion;
mod fields;
mod finding;
mod forms;
mod header;
mod iterations;
mod list;
mod list_table;
mod loaded;
mod page_head;
mod part;
mod picture;
mod popup;
mod score;
mod snapshot;
mod tag;
mod term;
mod work;

pub use swe_ci_islands::{CheckedForm, FollowRun, InPlace, Poll};

pub use bars::{Hatching, Meter, PassingBar, PublishedBar, ScoreBar, floor_of};
pub use charts::{Funnel, SpreadChart, title as spread_title};
pub use choice::{
    Choice, Choices, FilterSelect, GammaField, GammaForm, HiddenFields, LeaderSwitch,
    convention_choices, mode_choices, split_choices, unseen_choices,
};
pub use cite::Cite;
pub use deletion::DeleteForm;
pub use fields::{
    Field, LongText, NewPassword, OneOf, RoleSelect, ScopeSelect, TomlFile, field_id,
};
pub use finding::GradeTag;
pub use forms::{
    ActionButton, Confirmation, Form, FormAnswer, PostForm, ProviderButtons, Refusal, ShownOnce,
};
pub use header::{AccountMenu, SignIn, ThemeSwitch};
pub use iterations::Iterations;
pub use list::CollectAny;
pub use list_table::{CardTable, ItemTable, ListTable, NextPage, PlainTable, fact};
pub use loaded::{Empty, Fetched, NoRuns, NoTasks, Problem, fetched, loaded};
pub use page_head::{PageHead, PageTop, crumb};
pub use part::{Part, PartLinks};
pub use picture::Picture;
pub use popup::Popup;
pub use score::{MarkKey, Score};
pub use snapshot::SnapshotNote;
pub use tag::{Ended, Tag, Time, Tone};
pub use term::{Explained, Key, Term, heading};
pub use work::WorkNote;
