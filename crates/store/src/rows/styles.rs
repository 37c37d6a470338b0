//! Rows of code styles.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_views::style::{CodeStyle, EvolutionStyle, StyleTools};

use crate::from_json;

/// The style of one code version.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeStyleRow {
    /// Digest of the source files.
    pub source: String,
    /// Content digest of the image it was measured in.
    pub image: String,
    pub tools: StyleTools,
    pub style: CodeStyle,
    /// Artifact: a `FileStyle` for each file.
    pub files: String,
}

/// The result of measuring an evolution: its style, or why it has none.
pub type Measured = std::result::Result<EvolutionStyle, String>;

pub(crate) fn read_measured(row: &AnyRow) -> Result<Measured> {
    let style: String = row.try_get("style")?;
    Ok(match style.is_empty() {
        false => Ok(from_json("a code style", &style)?),
        true => Err(row.try_get("reason")?),
    })
}

pub(crate) fn read_code_style(row: &AnyRow) -> Result<CodeStyleRow> {
    let text = |name: &str| row.try_get::<String, _>(name);
    Ok(CodeStyleRow {
        source: text("source")?,
        image: text("image")?,
        tools: from_json("style tools", &text("tools")?)?,
        style: from_json("a code style", &text("style")?)?,
        files: text("files")?,
    })
}
