//! Query strings, read strictly: an unknown name, a name given twice or a
//! value out of range is a [`Problem`] that says what would be right. A typing
//! error such as `?gama=2` must not quietly give the numbers for γ = 1.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use swe_ci_core::browse::{self, TaskFilter};
use swe_ci_core::conversation::{LONGEST_PAGE, Window};
use swe_ci_core::leaderboard::{Columns, Incomparable, TaskOrder, View};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Kind;
use swe_ci_core::task::{TaskId, is_plain_name};
use swe_ci_core::verification::Mark;
use swe_ci_engine::PageRequest;

use super::card;
use super::problem::Problem;
use super::trajectory::Format;
use crate::pictures::Scale;

/// Most characters `after` may have; ours are far shorter.
const MAX_AFTER: usize = 200;

/// Most bytes a text that is looked for may have.
const MAX_TEXT: usize = 200;

/// A query string read as `T`.
#[derive(Debug)]
pub(crate) struct Query<T>(pub T);

pub(crate) trait FromQuery: Sized {
    /// The parameters there are.
    const NAMES: &'static [&'static str];

    fn from_query(given: &Given) -> Result<Self, Problem>;
}

impl<S: Sync, T: FromQuery> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let given = Given::of(parts, T::NAMES)?;
        T::from_query(&given).map(Self)
    }
}

/// What a query string gives: known names, each at most once.
#[derive(Debug)]
pub(crate) struct Given(Vec<(String, String)>);

impl Given {
    fn of(parts: &Parts, names: &[&str]) -> Result<Self, Problem> {
        type Pairs = axum::extract::Query<Vec<(String, String)>>;
        let pairs = Pairs::try_from_uri(&parts.uri)
            .map_err(|e| Problem::about_parameter("query", e.to_string()))?;
        let given = Self(pairs.0);
        for (position, (name, _)) in given.0.iter().enumerate() {
            let shown: String = name.chars().take(100).collect();
            if !names.contains(&name.as_str()) {
                let detail = match names {
                    [] => format!("`{shown}` is given, and there are no parameters here"),
                    _ => format!(
                        "`{shown}` is not a parameter here; there are {}",
                        names.join(", ")
                    ),
                };
                return Err(Problem::about_parameter(shown, detail));
            }
            if given.0[..position]
                .iter()
                .any(|(earlier, _)| earlier == name)
            {
                let detail = format!("`{name}` is given more than once");
                return Err(Problem::about_parameter(name, detail));
            }
        }
        Ok(given)
    }

    /// The value of `name`, if it is given; `must` completes "it must be …".
    fn parse<T>(
        &self,
        name: &str,
        must: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some((_, value)) = self.0.iter().find(|(n, _)| n == name) else {
            return Ok(None);
        };
        match parse(value) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(Problem::parameter(name, value, must)),
        }
    }

    /// Whether something is wished that is not done by itself.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        let flag = self.parse(name, "`true` or `false`", |text| text.parse().ok());
        Ok(flag?.unwrap_or_default())
    }

    pub(crate) fn split(&self) -> Result<Option<String>, Problem> {
        let must = "the name of a split: letters, digits, `.`, `_` and `-`";
        self.parse("split", must, |text| {
            is_plain_name(text).then(|| text.to_owned())
        })
    }

    /// Ids of runs with commas between them; how many there may be and
    /// whether they go together is for the comparison to say.
    pub(crate) fn runs(&self) -> Result<Vec<String>, Problem> {
        let must = "2 to 6 different ids of runs with commas between them";
        let runs = self.parse("runs", must, |text| {
            let ids: Vec<String> = text.split(',').map(str::to_owned).collect();
            Incomparable::check(&ids).ok().map(|()| ids)
        })?;
        runs.ok_or_else(|| {
            Problem::about_parameter("runs", format!("`runs` is missing; it must be {must}"))
        })
    }

    pub(crate) fn task(&self) -> Result<Option<TaskId>, Problem> {
        self.parse("task", "the id of a task", |text| TaskId::new(text).ok())
    }

    pub(crate) fn gamma(&self) -> Result<Option<Gamma>, Problem> {
        self.parse("gamma", "a number from 0.1 to 10", |text| {
            Gamma::new(text.parse().ok()?).ok()
        })
    }

    pub(crate) fn convention(&self) -> Result<Option<Convention>, Problem> {
        self.parse("convention", "`paper` or `reference`", |text| {
            text.parse().ok()
        })
    }

    /// Which rows of a leaderboard, in which order.
    pub(crate) fn view(&self) -> Result<View, Problem> {
        let kinds = self.parse(
            "kind",
            "`human`, `measured`, `imported` or some of them with commas between",
            |text| text.split(',').map(Kind::from_name).collect::<Option<_>>(),
        )?;
        let any_text = |text: &str| (text.len() <= MAX_TEXT).then(|| text.to_owned());
        let text = self.parse("text", "at most 200 bytes of text", any_text)?;
        Ok(View {
            kinds: kinds.unwrap_or_default(),
            provider: self.parse("provider", "the name of a provider", any_text)?,
            mark: self.parse("mark", "`verified` or `self-reported`", Mark::from_name)?,
            text: text.unwrap_or_default(),
            unseen: self
                .parse("seen", "`include` or `exclude`", |text| match text {
                    "include" => Some(false),
                    "exclude" => Some(true),
                    _ => None,
                })?
                .unwrap_or_default(),
            sort: self
                .parse(
                    "sort",
                    "the name of a column, after a `-` from the largest down",
                    |text| text.parse().ok(),
                )?
                .unwrap_or_default(),
            columns: Columns::ALL,
        })
    }

    /// The columns of a table; all of them when none is named.
    pub(crate) fn columns(&self) -> Result<Columns, Problem> {
        let must = "`none` or names of columns with commas between: evoscore, zero-regression, \
                    net-zero-regression, solved, turns, mi-wins, pylint-wins, tokens, cost, findings, \
                    tasks, released, finished";
        let columns = self.parse("columns", must, |text| {
            Columns::of_names(text.split(',')).ok()
        })?;
        Ok(columns.unwrap_or(Columns::ALL))
    }

    /// What entries of the audit log are about.
    pub(crate) fn subject(&self) -> Result<Option<String>, Problem> {
        self.parse("subject", "1 to 200 bytes of text", |text| {
            (1..=MAX_TEXT)
                .contains(&text.len())
                .then(|| text.to_owned())
        })
    }

    pub(crate) fn scale(&self) -> Result<Option<Scale>, Problem> {
        self.parse("scale", Scale::MUST, Scale::of_text)
    }

    /// Which tasks of a list.
    pub(crate) fn task_filter(&self) -> Result<TaskFilter, Problem> {
        let get = |name: &str| {
            let pair = self.0.iter().find(|(known, _)| known == name);
            pair.map(|(_, value)| value.clone())
        };
        let (filter, unusable) = TaskFilter::read(get);
        match unusable.first() {
            None => Ok(filter),
            Some(wrong) => Err(Problem::parameter(&wrong.name, &wrong.value, wrong.must)),
        }
    }

    /// How a list of tasks is ordered.
    pub(crate) fn list_order(&self) -> Result<browse::ListOrder, Problem> {
        let must = "gap, tests, commits, days, lines or suite, after a `-` from the largest down";
        let order = self.parse("sort", must, browse::ListOrder::from_name);
        Ok(order?.unwrap_or_default())
    }

    pub(crate) fn task_order(&self) -> Result<Option<TaskOrder>, Problem> {
        let must = "mean, spread, solved or task, after a `-` from the largest down";
        self.parse("sort", must, |text| text.parse().ok())
    }

    pub(crate) fn sample(&self) -> Result<Option<u32>, Problem> {
        self.parse("sample", "a whole number from 1", |text| {
            text.parse().ok().filter(|n| *n >= 1)
        })
    }

    pub(crate) fn attempt(&self) -> Result<Option<u32>, Problem> {
        self.parse("attempt", "a whole number from 1", |text| {
            text.parse().ok().filter(|n| *n >= 1)
        })
    }

    /// Which messages of a step, and what is looked for in them.
    pub(crate) fn window(&self) -> Result<Window, Problem> {
        let number = |text: &str| text.parse().ok().filter(|n| *n >= 1);
        let limit = |text: &str| number(text).filter(|n| *n <= LONGEST_PAGE);
        let text = |text: &str| (text.len() <= MAX_TEXT).then(|| text.to_owned());
        Ok(Window {
            from: self.parse("from", "a whole number from 1", number)?,
            limit: self.parse("limit", "a whole number from 1 to 500", limit)?,
            q: self
                .parse("q", "at most 200 bytes of text", text)?
                .unwrap_or_default(),
        })
    }

    pub(crate) fn format(&self) -> Result<Option<Format>, Problem> {
        self.parse("format", "`jsonl` or `atif`", Format::of_text)
    }

    pub(crate) fn card_format(&self) -> Result<Option<card::Format>, Problem> {
        self.parse("format", "`json` or `text`", card::Format::of_text)
    }

    pub(crate) fn page(&self) -> Result<PageRequest, Problem> {
        Ok(PageRequest {
            limit: self.parse("limit", "a whole number from 1 to 500", |text| {
                text.parse().ok().filter(|n| (1..=500).contains(n))
            })?,
            after: self.parse("after", "the `next` of the page before", |text| {
                let fits = (1..=MAX_AFTER).contains(&text.len());
                fits.then(|| text.to_owned())
            })?,
        })
    }
}

/// An address without parameters.
#[derive(Debug)]
pub(crate) struct NoParameters;

impl FromQuery for NoParameters {
    const NAMES: &'static [&'static str] = &[];

    fn from_query(_: &Given) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// Which page of a list.
#[derive(Debug, Clone, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the parameters that `Given::page` reads"
)]
pub(crate) struct PageParameters {
    /// How many items at most.
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<u32>,
    /// The `next` of the page before.
    after: Option<String>,
}

impl FromQuery for PageRequest {
    const NAMES: &'static [&'static str] = &["limit", "after"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        given.page()
    }
}
