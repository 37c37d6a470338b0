//! Rows as queries return them, and their readers. Query files import these
//! modules; none of these imports a query file.

pub(crate) mod accounts;
pub(crate) mod columns;
pub(crate) mod evolutions;
pub(crate) mod notifications;
pub(crate) mod runs;
pub(crate) mod suites;
pub(crate) mod tasks;
