use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::Resource;
use super::request::Question;
use super::search::Asked;
use super::{GitHub, GitHubError, Progress, RepositoryHit, Search, Skipped, Stars, Told};

/// GitHub shows no more of what a search finds.
const MOST_SHOWN: u64 = 1_000;
const PER_PAGE: usize = 100;
/// Parts a search may be divided into, those that are divided again among
/// them: far more than a hundred thousand repositories need.
const MOST_SLICES: usize = 2_000;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Those with the most stars first; by name where these are equal.
    pub hits: Vec<RepositoryHit>,
    /// How many GitHub counts, those beyond [`Search::most`] among them.
    pub total: u64,
    /// Left out for what GitHub says of them; by name.
    pub skipped: Vec<Skipped>,
    /// Where GitHub did not list all it counts.
    pub gaps: Vec<Gap>,
}

/// A part of a search of which not all was listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub licence: Option<String>,
    pub stars: Stars,
    /// How many repositories GitHub listed, and how many it counts.
    pub listed: u64,
    pub total: u64,
    pub reason: GapReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// More than the 1000 that GitHub shows have the same number of stars.
    Truncated,
    /// GitHub's search ran out of time, whenever it was tried; the count is
    /// not all there is.
    TimedOut,
    /// The list changed while it was read, or GitHub lists fewer than it
    /// counts.
    Fewer,
}

/// One page of what a search finds.
#[derive(Debug, Deserialize)]
struct Page {
    total_count: u64,
    incomplete_results: bool,
    items: Vec<Value>,
}

/// What is asked for in one part of a search.
#[derive(Debug, Clone, Copy)]
struct Slice<'s> {
    asked: &'s Asked<'s>,
    licence: Option<&'s str>,
    stars: Stars,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Basket {
    hits: Vec<RepositoryHit>,
    /// Names in small letters: GitHub does not tell cases apart.
    seen: HashSet<String>,
    total: u64,
    skipped: Vec<Skipped>,
    gaps: Vec<Gap>,
    slices: usize,
}

impl GitHub {
    /// The repositories that fit. GitHub shows at most 1000 for one question,
    /// so there are many, for ranges of stars that hold no more each. That
    /// takes minutes: it allows 30 questions in one, and 10 without a token.
    ///
    /// # Errors
    /// [`GitHubError::Search`] and [`GitHubError::Refused`] say what to change
    /// in the search, [`GitHubError::Denied`] and [`GitHubError::RateLimited`]
    /// what to do about the token.
    pub async fn search(
        &self,
        search: &Search,
        now: Timestamp,
        told: Told<'_>,
    ) -> Result<Found, GitHubError> {
        let asked = Asked::new(search, now)?;
        let mut basket = Basket::default();
        for licence in asked.licences() {
            self.of_licence(&asked, licence, &mut basket, told).await?;
        }
        Ok(basket.found(search.most))
    }

    /// From the most stars down, until there are enough.
    async fn of_licence(
        &self,
        asked: &Asked<'_>,
        licence: Option<&str>,
        basket: &mut Basket,
        told: Told<'_>,
    ) -> Result<(), GitHubError> {
        let before = basket.hits.len();
        let mut ranges = vec![Stars::above(asked.search.min_stars)];
        let mut first = true;
        while let Some(stars) = ranges.pop() {
            let slice = Slice {
                asked,
                licence,
                stars,
            };
            let question = self.question(slice, 1);
            basket.slices += 1;
            if basket.slices > MOST_SLICES {
                let why = format!("it counts on after {MOST_SLICES} ranges of stars");
                return Err(question.malformed(&why));
            }
            let page = self.page(&question, told).await?;
            if std::mem::take(&mut first) {
                basket.total = basket.total.saturating_add(page.total_count);
            }
            match stars.split() {
                Some((lower, upper)) if page.total_count > MOST_SHOWN => {
                    ranges.extend([lower, upper]);
                }
                _ => self.list(slice, page, basket, told).await?,
            }
            if basket.hits.len() - before >= asked.search.most {
                break;
            }
        }
        Ok(())
    }

    /// All that GitHub shows of one range, from its first page on.
    async fn list(
        &self,
        slice: Slice<'_>,
        mut page: Page,
        basket: &mut Basket,
        told: Told<'_>,
    ) -> Result<(), GitHubError> {
        let total = page.total_count;
        told(Progress::Slice {
            licence: slice.licence.map(str::to_owned),
            stars: slice.stars,
            total,
        });
        let pages = total.min(MOST_SHOWN).div_ceil(PER_PAGE as u64);
        let mut listed = HashSet::new();
        let mut timed_out = page.incomplete_results;
        for number in 2..=pages.max(1) + 1 {
            for item in &page.items {
                listed.insert(item["full_name"].to_string().to_lowercase());
                basket.take(item, slice, &self.inner.web);
            }
            told(Progress::Listed {
                hits: basket.hits.len(),
            });
            if number > pages || page.items.is_empty() {
                break;
            }
            page = self.page(&self.question(slice, number), told).await?;
            timed_out |= page.incomplete_results;
        }
        let listed = listed.len() as u64;
        let reason = match (total > MOST_SHOWN, timed_out) {
            (true, _) => Some(GapReason::Truncated),
            (_, true) => Some(GapReason::TimedOut),
            _ => (listed < total).then_some(GapReason::Fewer),
        };
        basket.gaps.extend(reason.map(|reason| Gap {
            licence: slice.licence.map(str::to_owned),
            stars: slice.stars,
            listed,
            total,
            reason,
        }));
        Ok(())
    }

    /// One page. What GitHub did not finish in time is asked for again, and
    /// taken as it is in the end.
    async fn page(&self, question: &Question, told: Told<'_>) -> Result<Page, GitHubError> {
        let pace = &self.inner.pace;
        let mut tries = 1;
        loop {
            let page: Page = self.json(question, told).await?;
            if page.items.len() > PER_PAGE {
                let why = format!("it has {} entries on one page", page.items.len());
                return Err(question.malformed(&why));
            }
            if !page.incomplete_results || tries >= pace.searches {
                return Ok(page);
            }
            tokio::time::sleep(pace.pause(tries)).await;
            tries += 1;
        }
    }

    fn question(&self, slice: Slice<'_>, page: u64) -> Question {
        let query = slice.asked.query(slice.licence, slice.stars);
        let mut url = self.address(["search", "repositories"]);
        url.query_pairs_mut()
            .append_pair("q", &query)
            .append_pair("sort", "stars")
            .append_pair("order", "desc")
            .append_pair("per_page", &PER_PAGE.to_string())
            .append_pair("page", &page.to_string());
        Question {
            url,
            what: format!("page {page} of the search `{query}`"),
            resource: Resource::Search,
            advice: "the endpoint is not the address of its API: pass https://api.github.com, or https://host/api/v3",
        }
    }
}

impl Basket {
    fn take(&mut self, item: &Value, slice: Slice<'_>, web: &str) {
        let hit = RepositoryHit::new(item, web).and_then(|hit| {
            match slice.asked.fits(&hit, slice.licence) {
                Ok(()) => Ok(hit),
                Err(why) => Err(Skipped {
                    name: hit.full_name,
                    why,
                }),
            }
        });
        match hit {
            Ok(hit) => {
                // Some moved to the next page or range meanwhile.
                if self.seen.insert(hit.full_name.to_lowercase()) {
                    self.hits.push(hit);
                }
            }
            Err(skipped) => self.skipped.push(skipped),
        }
    }

    fn found(mut self, most: usize) -> Found {
        self.hits.sort_by(|a, b| {
            let by_stars = b.stars.cmp(&a.stars);
            by_stars.then_with(|| a.full_name.cmp(&b.full_name))
        });
        self.hits.truncate(most);
        self.skipped.sort();
        self.skipped.dedup();
        Found {
            hits: self.hits,
            total: self.total,
            skipped: self.skipped,
            gaps: self.gaps,
        }
    }
}
