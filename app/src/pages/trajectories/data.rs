//! The data and the query of the page.

use leptos_router::params::ParamsMap;
use swe_ci_views::trajectories::{
    LONGEST_SEARCH, Place, Selection, Subject, Trajectories, TranscriptSearch,
};

use crate::error::AppError;
use crate::pages::routes::{ONLY_MARKED, trajectories_href};
use crate::query::{named, parsed};

/// Lost tests that the page lists at once.
const LOSSES: usize = 10;

/// The run, and how the address wants it shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub run: String,
    /// A run to show beside it.
    pub with: Option<String>,
    pub selection: Option<Selection>,
    /// The position of the first place that is shown.
    pub from: usize,
}

impl Address {
    pub fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let subject = query.get_str("show").and_then(Subject::from_name);
        let selection = subject.map(|subject| Selection {
            subject,
            name: query.get("name").unwrap_or_default(),
            marked: query.get_str("only") == Some(ONLY_MARKED),
        });
        Self {
            run: params.get("id").unwrap_or_default(),
            with: named(query, "with"),
            selection,
            from: parsed(query, "from").unwrap_or_default(),
        }
    }

    /// The page with the places from this position on.
    pub fn from(&self, from: usize) -> String {
        let selection = self.selection.as_ref();
        trajectories_href(&self.run, self.with.as_deref(), selection, from)
    }

    /// The page without the places behind a number.
    pub fn without_places(&self) -> String {
        trajectories_href(&self.run, self.with.as_deref(), None, 0)
    }
}

#[derive(Debug, Clone)]
pub(super) struct PageData {
    pub address: Address,
    /// One, or two side by side.
    pub runs: Vec<Trajectories>,
    /// The places of the selected row.
    pub places: Option<Vec<Place>>,
    /// The iterations of the first run that lost most tests.
    pub losses: Vec<Place>,
}

pub(super) async fn page_data(address: Address) -> Result<PageData, AppError> {
    let engine = crate::error::engine()?;
    let lost = ["lost", "collapsed"].map(|name| Selection {
        subject: Subject::Loss,
        name: name.into(),
        marked: false,
    });
    let selected = address.selection.clone();
    let selections = lost.into_iter().chain(selected).collect();
    let (first, lists) = engine.trajectories(&address.run, selections).await?;
    let mut runs = vec![first];
    if let Some(with) = &address.with {
        let (second, _) = engine.trajectories(with, Vec::new()).await?;
        runs.push(second);
    }
    let mut lists = lists.into_iter();
    let mut losses: Vec<Place> = lists.by_ref().take(2).flatten().collect();
    losses.sort_by_key(|place| std::cmp::Reverse(place.amount.times));
    let places = lists.next();
    losses.truncate(LOSSES);
    Ok(PageData {
        address,
        runs,
        places,
        losses,
    })
}

/// A search in the transcripts of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchAddress {
    pub run: String,
    pub q: String,
    pub from: u32,
}

impl SearchAddress {
    pub fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let mut q = named(query, "q").unwrap_or_default();
        q.truncate(q.floor_char_boundary(LONGEST_SEARCH));
        Self {
            run: params.get("id").unwrap_or_default(),
            q: q.trim().to_owned(),
            from: parsed(query, "from").unwrap_or_default(),
        }
    }
}

/// Nothing without a text to search for.
pub(super) async fn search(
    address: SearchAddress,
) -> Result<(SearchAddress, Option<TranscriptSearch>), AppError> {
    let engine = crate::error::engine()?;
    if address.q.is_empty() {
        // The same error for a run that is not there.
        engine.run_summary(&address.run).await?;
        return Ok((address, None));
    }
    let found = engine.search_transcripts(&address.run, &address.q, address.from);
    let found = found.await?;
    Ok((address, Some(found)))
}
