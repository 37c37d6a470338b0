//! Query strings, read strictly: an unknown name, a name given twice or a
//! value out of range is a [`Problem`] that says what would be right. A typing
//! error such as `?gama=2` must not quietly give the numbers for γ = 1.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::task::is_plain_name;
use swe_ci_engine::PageRequest;

use super::problem::Problem;

/// Most characters `after` may have; ours are far shorter.
const MAX_AFTER: usize = 200;

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

    pub(crate) fn split(&self) -> Result<Option<String>, Problem> {
        let must = "the name of a split: letters, digits, `.`, `_` and `-`";
        self.parse("split", must, |text| {
            is_plain_name(text).then(|| text.to_owned())
        })
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
