//! Runs a search: divides it into ranges of stars, reads their pages and
//! collects the repositories.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::Resource;
use super::request::ApiRequest;
use super::search::CheckedSearch;
use super::{
    GitHub, GitHubError, Progress, ProgressListener, RepositoryHit, Search, Skipped, Stars,
};

/// The most results that GitHub lists for one query.
const MAX_SHOWN: u64 = 1_000;
const PER_PAGE: usize = 100;
/// Maximum number of ranges queried, including those that are divided again:
/// far more than a hundred thousand repositories need.
const MAX_SLICES: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchResults {
    /// Sorted by stars, most first, then by name.
    pub hits: Vec<RepositoryHit>,
    /// GitHub's count, including repositories beyond [`Search::most`].
    pub total: u64,
    /// Repositories with unusable descriptions; sorted by name.
    pub skipped: Vec<Skipped>,
    /// Parts of the search that GitHub did not list completely.
    pub gaps: Vec<Gap>,
}

/// A part of a search that GitHub did not list completely.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub licence: Option<String>,
    pub stars: Stars,
    /// The numbers of repositories that GitHub listed and counted.
    pub listed: u64,
    pub total: u64,
    pub reason: GapReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// More repositories have the same number of stars than the 1000 that
    /// GitHub lists.
    Truncated,
    /// GitHub's search timed out on every try; the count is incomplete.
    TimedOut,
    /// The list changed during reading, or GitHub lists fewer than it counts.
    Fewer,
}

#[derive(Debug, Deserialize)]
struct Page {
    total_count: u64,
    incomplete_results: bool,
    items: Vec<Value>,
}

#[derive(Debug, Clone, Copy)]
struct Slice<'s> {
    checked: &'s CheckedSearch<'s>,
    licence: Option<&'s str>,
    stars: Stars,
}

#[derive(Debug, Default)]
struct Collected {
    hits: Vec<RepositoryHit>,
    /// Names in lower case, because GitHub ignores case.
    names: HashSet<String>,
    total: u64,
    skipped: Vec<Skipped>,
    gaps: Vec<Gap>,
    slices: usize,
}

impl GitHub {
    /// Finds the matching repositories. GitHub lists at most 1000 per query, so
    /// the client sends many queries for ranges of stars with at most 1000
    /// each. That takes minutes: GitHub allows 30 queries per minute, 10
    /// without a token.
    ///
    /// # Errors
    /// [`GitHubError::Search`] and [`GitHubError::Refused`] say which field of
    /// the search to change, [`GitHubError::Denied`] and
    /// [`GitHubError::RateLimited`] what to do about the token.
    pub async fn search(
        &self,
        search: &Search,
        now: Timestamp,
        listener: ProgressListener<'_>,
    ) -> Result<SearchResults, GitHubError> {
        let checked = CheckedSearch::new(search, now)?;
        let mut collected = Collected::default();
        for licence in checked.licences() {
            self.search_licence(&checked, licence, &mut collected, listener)
                .await?;
        }
        Ok(collected.into_results(search.most))
    }

    /// Searches from the most stars down until there are enough results.
    async fn search_licence(
        &self,
        checked: &CheckedSearch<'_>,
        licence: Option<&str>,
        collected: &mut Collected,
        listener: ProgressListener<'_>,
    ) -> Result<(), GitHubError> {
        let before = collected.hits.len();
        let mut ranges = vec![Stars::above(checked.search.min_stars)];
        let mut first = true;
        while let Some(stars) = ranges.pop() {
            let slice = Slice {
                checked,
                licence,
                stars,
            };
            let request = self.request(slice, 1);
            collected.slices += 1;
            if collected.slices > MAX_SLICES {
                let why = format!("it takes more than {MAX_SLICES} ranges of stars");
                return Err(request.malformed(&why));
            }
            let page = self.page(&request, listener).await?;
            if std::mem::take(&mut first) {
                collected.total = collected.total.saturating_add(page.total_count);
            }
            match stars.split() {
                Some((lower, upper)) if page.total_count > MAX_SHOWN => {
                    ranges.extend([lower, upper]);
                }
                _ => self.list(slice, page, collected, listener).await?,
            }
            if collected.hits.len() - before >= checked.search.most {
                break;
            }
        }
        Ok(())
    }

    /// Reads all pages of one range; `page` is its first.
    async fn list(
        &self,
        slice: Slice<'_>,
        mut page: Page,
        collected: &mut Collected,
        listener: ProgressListener<'_>,
    ) -> Result<(), GitHubError> {
        let total = page.total_count;
        listener(Progress::Slice {
            licence: slice.licence.map(str::to_owned),
            stars: slice.stars,
            total,
        });
        let pages = total.min(MAX_SHOWN).div_ceil(PER_PAGE as u64);
        let mut listed = HashSet::new();
        let mut timed_out = page.incomplete_results;
        for number in 2..=pages.max(1) + 1 {
            for item in &page.items {
                listed.insert(item["full_name"].to_string().to_lowercase());
                collected.take(item, slice, &self.inner.web);
            }
            listener(Progress::Listed {
                hits: collected.hits.len(),
            });
            if number > pages || page.items.is_empty() {
                break;
            }
            page = self.page(&self.request(slice, number), listener).await?;
            timed_out |= page.incomplete_results;
        }
        let listed = listed.len() as u64;
        let reason = match (total > MAX_SHOWN, timed_out) {
            (true, _) => Some(GapReason::Truncated),
            (_, true) => Some(GapReason::TimedOut),
            _ => (listed < total).then_some(GapReason::Fewer),
        };
        collected.gaps.extend(reason.map(|reason| Gap {
            licence: slice.licence.map(str::to_owned),
            stars: slice.stars,
            listed,
            total,
            reason,
        }));
        Ok(())
    }

    /// Reads one page. Retries a page whose search timed out, and finally
    /// accepts it as it is.
    async fn page(
        &self,
        request: &ApiRequest,
        listener: ProgressListener<'_>,
    ) -> Result<Page, GitHubError> {
        let pace = &self.inner.pace;
        let mut tries = 1;
        loop {
            let page: Page = self.json(request, listener).await?;
            if page.items.len() > PER_PAGE {
                let why = format!("it has {} entries on one page", page.items.len());
                return Err(request.malformed(&why));
            }
            if !page.incomplete_results || tries >= pace.searches {
                return Ok(page);
            }
            tokio::time::sleep(pace.retries.delay(tries)).await;
            tries += 1;
        }
    }

    fn request(&self, slice: Slice<'_>, page: u64) -> ApiRequest {
        let query = slice.checked.query(slice.licence, slice.stars);
        let mut url = self.address(["search", "repositories"]);
        url.query_pairs_mut()
            .append_pair("q", &query)
            .append_pair("sort", "stars")
            .append_pair("order", "desc")
            .append_pair("per_page", &PER_PAGE.to_string())
            .append_pair("page", &page.to_string());
        ApiRequest {
            url,
            what: format!("page {page} of the search `{query}`"),
            resource: Resource::Search,
            advice: "the endpoint is not the address of the API: pass https://api.github.com, or https://host/api/v3",
        }
    }
}

impl Collected {
    fn take(&mut self, item: &Value, slice: Slice<'_>, web: &str) {
        let hit = match RepositoryHit::new(item, web) {
            Ok(hit) => hit,
            Err(skipped) => return self.skipped.push(skipped),
        };
        if let Err(why) = slice.checked.fits(&hit, slice.licence) {
            let name = hit.full_name;
            self.skipped.push(Skipped { name, why });
        } else if self.names.insert(hit.full_name.to_lowercase()) {
            // Otherwise it has moved to another page or range meanwhile.
            self.hits.push(hit);
        }
    }

    fn into_results(mut self, most: usize) -> SearchResults {
        self.hits.sort_by(|a, b| {
            let by_stars = b.stars.cmp(&a.stars);
            by_stars.then_with(|| a.full_name.cmp(&b.full_name))
        });
        self.hits.truncate(most);
        self.skipped.sort();
        self.skipped.dedup();
        SearchResults {
            hits: self.hits,
            total: self.total,
            skipped: self.skipped,
            gaps: self.gaps,
        }
    }
}
