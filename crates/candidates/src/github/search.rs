//! The criteria of a search, their checks, and the query GitHub receives.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{GitHubError, RepositoryHit, Stars};

/// Maximum number of repositories of one search.
pub const MAX_HITS: usize = 100_000;

/// The permissive licences of GitHub's list.
const PERMISSIVE: &str = "\
    mit apache-2.0 bsd-3-clause bsd-2-clause isc unlicense 0bsd mit-0 bsd-4-clause zlib bsl-1.0 \
    cc0-1.0";

const HOURS_OF_YEAR: f64 = 365.25 * 24.0;
const MAX_YEARS: f64 = 100.0;
/// In characters.
const LONGEST_WORD: usize = 64;
/// Each word is a separate query or narrows one.
const MAX_WORDS: usize = 50;

/// Criteria for repositories. All must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The main language by GitHub's count: `Python`.
    pub language: String,
    /// More stars than this: 500 in section 3.1.
    pub min_stars: u64,
    /// Created before this time: 3 years ago. How long a repository was
    /// maintained is known only after cloning, but a younger one cannot
    /// qualify.
    pub created_before: Moment,
    /// Pushed to, on any branch, after this time: 1 year ago; otherwise it is
    /// no longer maintained. 100 years ago disables the check.
    pub pushed_after: Moment,
    /// GitHub's licence keys, such as `mit`, of which a repository must have
    /// one. The default is the permissive ones; an empty list accepts any
    /// licence and none.
    pub licences: Vec<String>,
    /// Include archived repositories: no.
    pub archived: bool,
    /// Include forks: no.
    pub forks: bool,
    /// Topics, all of which a repository must have: none.
    pub topics: Vec<String>,
    /// How many repositories to return, those with the most stars: 1000, at
    /// most [`MAX_HITS`].
    pub most: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            language: "Python".into(),
            min_stars: 500,
            created_before: Moment::YearsAgo(3.0),
            pushed_after: Moment::YearsAgo(1.0),
            licences: PERMISSIVE.split(' ').map(str::to_owned).collect(),
            archived: false,
            forks: false,
            topics: Vec::new(),
            most: 1_000,
        }
    }
}

/// A point in time: `{ years_ago = 3.0 }`, or `{ at = "2024-05-01T00:00:00Z" }`
/// for a search that can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// In years of 365.25 days, 0 to 100.
    YearsAgo(f64),
    At(Timestamp),
}

impl Moment {
    /// The time in whole seconds, as GitHub accepts it.
    fn before(self, now: Timestamp) -> Option<Timestamp> {
        let moment = match self {
            Self::At(moment) => moment,
            Self::YearsAgo(years) if (0.0..=MAX_YEARS).contains(&years) => {
                let ago = SignedDuration::from_secs_f64(years * HOURS_OF_YEAR * 3_600.0);
                now.checked_sub(ago).ok()?
            }
            Self::YearsAgo(_) => return None,
        };
        Timestamp::from_second(moment.as_second()).ok()
    }
}

/// A search whose fields are valid.
#[derive(Debug)]
pub(super) struct CheckedSearch<'s> {
    pub(super) search: &'s Search,
    created_before: Timestamp,
    pushed_after: Timestamp,
}

impl<'s> CheckedSearch<'s> {
    pub(super) fn new(search: &'s Search, now: Timestamp) -> Result<Self, GitHubError> {
        words("language", std::slice::from_ref(&search.language), " #+-.'")?;
        words("licences", &search.licences, "-.")?;
        words("topics", &search.topics, "-")?;
        if search.most == 0 || search.most > MAX_HITS {
            let why = format!("it is {}; pass 1 to {MAX_HITS}", search.most);
            return Err(GitHubError::Search { field: "most", why });
        }
        let moment = |field: &'static str, moment: Moment| {
            moment.before(now).ok_or_else(|| GitHubError::Search {
                field,
                why: format!("pass years between 0 and {MAX_YEARS}, or a date"),
            })
        };
        Ok(Self {
            search,
            created_before: moment("created_before", search.created_before)?,
            pushed_after: moment("pushed_after", search.pushed_after)?,
        })
    }

    /// One query per licence: GitHub does not document whether several in one
    /// query mean any or all of them.
    pub(super) fn licences(&self) -> Vec<Option<&'s str>> {
        match self.search.licences.as_slice() {
            [] => vec![None],
            some => some.iter().map(|licence| Some(licence.as_str())).collect(),
        }
    }

    /// The query in GitHub's syntax. It excludes private repositories, which a
    /// token might expose.
    pub(super) fn query(&self, licence: Option<&str>, stars: Stars) -> String {
        let search = self.search;
        let mut parts = vec![
            format!("language:{}", quoted(&search.language)),
            format!("stars:{stars}"),
            format!("created:<{}", self.created_before),
            format!("pushed:>{}", self.pushed_after),
            "is:public".to_owned(),
        ];
        if !search.archived {
            parts.push("archived:false".to_owned());
        }
        // GitHub omits forks by default.
        if search.forks {
            parts.push("fork:true".to_owned());
        }
        parts.extend(licence.map(|licence| format!("license:{licence}")));
        parts.extend(search.topics.iter().map(|topic| format!("topic:{topic}")));
        parts.join(" ")
    }

    /// Checks a result against the criteria: GitHub's index may be older than
    /// its description of a repository.
    ///
    /// # Errors
    /// The criterion that does not hold.
    pub(super) fn fits(&self, hit: &RepositoryHit, licence: Option<&str>) -> Result<(), String> {
        let search = self.search;
        if hit.stars <= search.min_stars {
            Err(format!(
                "it has {} stars, more than {} are required",
                hit.stars, search.min_stars
            ))
        } else if hit.created_at >= self.created_before {
            Err(format!("it was created on {}", hit.created_at))
        } else if hit.pushed_at <= self.pushed_after {
            Err(format!("its last push was on {}", hit.pushed_at))
        } else if hit.archived && !search.archived {
            Err("it is archived".to_owned())
        } else if hit.fork && !search.forks {
            Err("it is a fork".to_owned())
        } else if let Some(wanted) = licence
            && !hit.has_licence(wanted)
        {
            let licence = hit.licence.as_deref().unwrap_or("none");
            Err(format!("its licence is {licence}, not {wanted}"))
        } else {
            Ok(())
        }
    }
}

/// Words become part of a query; these characters cannot break out of it.
fn words(field: &'static str, words: &[String], others: &str) -> Result<(), GitHubError> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    let wrong = words
        .iter()
        .find(|word| word.is_empty() || word.len() > LONGEST_WORD || !word.chars().all(plain));
    let why = match wrong {
        Some(word) => {
            let word: String = word.chars().take(LONGEST_WORD).collect();
            format!("{word:?} is invalid; write it as GitHub does")
        }
        None if words.len() > MAX_WORDS => {
            format!("it has {} entries; pass at most {MAX_WORDS}", words.len())
        }
        None => return Ok(()),
    };
    Err(GitHubError::Search { field, why })
}

fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-01-01T00:00:00.5Z".parse().unwrap()
    }

    #[test]
    fn the_paper_s_search_as_github_takes_it() {
        let search = Search::default();
        let checked = CheckedSearch::new(&search, now()).unwrap();
        assert_eq!(
            checked.query(Some("mit"), Stars::above(search.min_stars)),
            "language:Python stars:>=501 created:<2023-01-01T06:00:00Z pushed:>2024-12-31T18:00:00Z is:public archived:false license:mit"
        );
        assert_eq!(checked.licences().len(), 12);
    }

    #[test]
    fn fields_of_a_search() {
        let check = |json: &str, expect: Result<&str, &str>| {
            let search: Result<Search, _> = serde_json::from_str(json);
            let query = search
                .map_err(|error| error.to_string())
                .and_then(|search| {
                    let checked =
                        CheckedSearch::new(&search, now()).map_err(|error| error.to_string())?;
                    Ok(checked.query(checked.licences()[0], Stars::above(9)))
                });
            match (&query, expect) {
                (Ok(query), Ok(expect)) => assert!(query.contains(expect), "{query}"),
                (Err(error), Err(expect)) => assert!(error.contains(expect), "{error}"),
                _ => panic!("{json} → {query:?}"),
            }
        };
        check("{}", Ok("license:mit"));
        check(r#"{"licences":[]}"#, Ok("archived:false"));
        check(r#"{"archived":true}"#, Ok("is:public license:mit"));
        check(r#"{"forks":true}"#, Ok("fork:true"));
        check(r#"{"topics":["cli","web"]}"#, Ok("topic:cli topic:web"));
        check(
            r#"{"language":"Jupyter Notebook"}"#,
            Ok("language:\"Jupyter Notebook\" stars:>=10"),
        );
        check(
            r#"{"created_before":{"at":"2020-02-03T04:05:06.7Z"}}"#,
            Ok("created:<2020-02-03T04:05:06Z"),
        );
        check(
            r#"{"pushed_after":{"years_ago":100}}"#,
            Ok("pushed:>1926-01-01"),
        );
        check(r#"{"min_star":1}"#, Err("unknown field `min_star`"));
        check(r#"{"created_before":{"ago":1}}"#, Err("unknown variant"));
        check(
            r#"{"pushed_after":{"years_ago":-1}}"#,
            Err("`pushed_after`"),
        );
        check(r#"{"created_before":{"years_ago":101}}"#, Err("between 0"));
        check(r#"{"most":0}"#, Err("pass 1 to 100000"));
        check(r#"{"most":100001}"#, Err("`most`"));
        check(r#"{"language":""}"#, Err("`language`"));
        check(r#"{"language":"C\" user:x"}"#, Err("is invalid"));
        check(r#"{"licences":["mit license:gpl"]}"#, Err("`licences`"));
        check(r#"{"topics":["a b"]}"#, Err("`topics`"));
    }
}
