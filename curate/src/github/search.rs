use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{GitHubError, RepositoryHit, Stars};

/// The most repositories a search may be for.
pub const MOST_HITS: usize = 100_000;

/// The licences of GitHub's list that ask for little more than to be named.
const PERMISSIVE: [&str; 12] = [
    "mit",
    "apache-2.0",
    "bsd-3-clause",
    "bsd-2-clause",
    "isc",
    "unlicense",
    "0bsd",
    "mit-0",
    "bsd-4-clause",
    "zlib",
    "bsl-1.0",
    "cc0-1.0",
];

const HOURS_OF_YEAR: f64 = 365.25 * 24.0;
const MOST_YEARS: f64 = 100.0;
/// In characters.
const LONGEST_WORD: usize = 64;
/// Each is a search of its own, or narrows one.
const MOST_WORDS: usize = 50;

/// Which repositories are looked for. All of it has to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The language most of a repository is in, by GitHub's count: `Python`.
    pub language: String,
    /// More than so many: 500 in section 3.1.
    pub min_stars: u64,
    /// Made before then: 3 years ago. How long a repository was maintained is
    /// only known once it is here; younger ones cannot have been.
    pub created_before: Moment,
    /// With a push, to any branch, after then: 1 year ago, or it is not
    /// maintained any more. 100 years ago asks for nothing.
    pub pushed_after: Moment,
    /// By GitHub's keys, such as `mit`, of which a repository has one. The
    /// permissive ones; with none in the list all are taken, and repositories
    /// without any.
    pub licences: Vec<String>,
    /// Whether archived ones are wanted as well: no.
    pub archived: bool,
    /// Whether forks are wanted as well: no.
    pub forks: bool,
    /// A repository has to have all of them: none.
    pub topics: Vec<String>,
    /// Those with the most stars, so many: 1000, at most [`MOST_HITS`].
    pub most: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            language: "Python".into(),
            min_stars: 500,
            created_before: Moment::YearsAgo(3.0),
            pushed_after: Moment::YearsAgo(1.0),
            licences: PERMISSIVE.map(str::to_owned).to_vec(),
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
    /// In whole seconds, as GitHub takes it.
    fn before(self, now: Timestamp) -> Option<Timestamp> {
        let moment = match self {
            Self::At(moment) => moment,
            Self::YearsAgo(years) if (0.0..=MOST_YEARS).contains(&years) => {
                let ago = SignedDuration::from_secs_f64(years * HOURS_OF_YEAR * 3_600.0);
                now.checked_sub(ago).ok()?
            }
            Self::YearsAgo(_) => return None,
        };
        Timestamp::from_second(moment.as_second()).ok()
    }
}

/// A search that can be asked for.
#[derive(Debug)]
pub(super) struct Asked<'s> {
    pub(super) search: &'s Search,
    created_before: Timestamp,
    pushed_after: Timestamp,
}

impl<'s> Asked<'s> {
    pub(super) fn new(search: &'s Search, now: Timestamp) -> Result<Self, GitHubError> {
        words("language", std::slice::from_ref(&search.language), " #+-.'")?;
        words("licences", &search.licences, "-.")?;
        words("topics", &search.topics, "-")?;
        if search.most == 0 || search.most > MOST_HITS {
            let why = format!("it is {}; pass 1 to {MOST_HITS}", search.most);
            return Err(GitHubError::Search { field: "most", why });
        }
        let moment = |field: &'static str, moment: Moment| {
            moment.before(now).ok_or_else(|| GitHubError::Search {
                field,
                why: format!("pass years between 0 and {MOST_YEARS}, or a date"),
            })
        };
        Ok(Self {
            search,
            created_before: moment("created_before", search.created_before)?,
            pushed_after: moment("pushed_after", search.pushed_after)?,
        })
    }

    /// One search for each licence: what several in one mean, any or all of
    /// them, is not documented.
    pub(super) fn licences(&self) -> Vec<Option<&'s str>> {
        match self.search.licences.as_slice() {
            [] => vec![None],
            some => some.iter().map(|licence| Some(licence.as_str())).collect(),
        }
    }

    /// In GitHub's syntax. A token may show private repositories, which have
    /// no place in a dataset.
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
        // Without it forks are left out.
        if search.forks {
            parts.push("fork:true".to_owned());
        }
        parts.extend(licence.map(|licence| format!("license:{licence}")));
        parts.extend(search.topics.iter().map(|topic| format!("topic:{topic}")));
        parts.join(" ")
    }

    /// Whether a repository is one that was asked for; GitHub's index may be
    /// older than what it says of a repository.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn fits(&self, hit: &RepositoryHit, licence: Option<&str>) -> Result<(), String> {
        let search = self.search;
        if hit.stars <= search.min_stars {
            Err(format!(
                "it has {} stars, and more than {} are asked for",
                hit.stars, search.min_stars
            ))
        } else if hit.created_at >= self.created_before {
            Err(format!("it was made on {}", hit.created_at))
        } else if hit.pushed_at <= self.pushed_after {
            Err(format!("its last push was on {}", hit.pushed_at))
        } else if hit.archived && !search.archived {
            Err("it is archived".to_owned())
        } else if hit.fork && !search.forks {
            Err("it is a fork".to_owned())
        } else if let Some(asked) = licence
            && !hit.has_licence(asked)
        {
            let licence = hit.licence.as_deref().unwrap_or("none");
            Err(format!("its licence is {licence}, and not {asked}"))
        } else {
            Ok(())
        }
    }
}

/// Words become part of a query; what they may hold cannot end them there.
fn words(field: &'static str, words: &[String], others: &str) -> Result<(), GitHubError> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    let wrong = words
        .iter()
        .find(|word| word.is_empty() || word.len() > LONGEST_WORD || !word.chars().all(plain));
    let why = match wrong {
        Some(word) => {
            let word: String = word.chars().take(LONGEST_WORD).collect();
            format!("{word:?} is none; pass it as GitHub writes it")
        }
        None if words.len() > MOST_WORDS => {
            format!("there are {}; pass {MOST_WORDS} at most", words.len())
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
        let asked = Asked::new(&search, now()).unwrap();
        assert_eq!(
            asked.query(Some("mit"), Stars::above(search.min_stars)),
            "language:Python stars:>=501 created:<2023-01-01T06:00:00Z pushed:>2024-12-31T18:00:00Z is:public archived:false license:mit"
        );
        assert_eq!(asked.licences().len(), 12);
    }

    #[test]
    fn fields_of_a_search() {
        let check = |json: &str, expect: Result<&str, &str>| {
            let search: Result<Search, _> = serde_json::from_str(json);
            let query = search
                .map_err(|error| error.to_string())
                .and_then(|search| {
                    let asked = Asked::new(&search, now()).map_err(|error| error.to_string())?;
                    Ok(asked.query(asked.licences()[0], Stars::above(9)))
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
        check(r#"{"language":"C\" user:x"}"#, Err("is none"));
        check(r#"{"licences":["mit license:gpl"]}"#, Err("`licences`"));
        check(r#"{"topics":["a b"]}"#, Err("`topics`"));
    }
}
