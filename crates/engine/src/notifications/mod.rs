//! Notifications for the owners of runs: `message` is the text and its
//! signature, `mail` sends it by SMTP, `dispatcher` delivers everything that is
//! due.

pub(crate) mod dispatcher;
pub(crate) mod mail;
pub(crate) mod message;

pub use mail::Mailer;
