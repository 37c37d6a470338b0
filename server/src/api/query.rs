//! Query strings, parsed strictly: an unknown name, a repeated name or an
//! invalid value is a [`Problem`] that says what would be valid. A typing error
//! such as `?gama=2` must not silently return the numbers for γ = 1.
//!
//! A group of [`parameters`] is a struct: its documentation ([`IntoParams`])
//! decides which names [`Query`] accepts, and [`QueryParameters::read`] fills
//! it. A handler takes one group, or pairs of them.

use axum::extract::{FromRequestParts, Request};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::Value;
use swe_ci_core::day::is_day;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_core::task::{TaskId, is_plain_name};
use swe_ci_engine::PageRequest;
use utoipa::IntoParams;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::problem::Problem;

/// The largest number of characters in `after`; ours are far shorter.
const MAX_AFTER: usize = 200;

/// The largest number of bytes in a search text.
const MAX_TEXT: usize = 200;

/// The query string, parsed as `T`.
#[derive(Debug)]
pub(crate) struct Query<T>(pub T);

/// A group of documented parameters.
pub(crate) trait QueryParameters: IntoParams + Sized {
    fn read(query: &QueryString) -> Result<Self, Problem>;
}

/// Defines a group of parameters: of each its documentation, its type, and its
/// value in a query.
macro_rules! parameters {
    (
        $(#[$($note:tt)*])*
        struct $Group:ident of |$query:ident| {
            $($(#[$($about:tt)*])* $name:ident: $Type:ty = $value:expr,)+
        }
    ) => {
        $(#[$($note)*])*
        #[derive(Debug, utoipa::IntoParams)]
        #[into_params(parameter_in = Query)]
        pub(crate) struct $Group {
            $($(#[$($about)*])* pub(crate) $name: $Type,)+
        }

        impl $crate::api::query::QueryParameters for $Group {
            fn read(
                $query: &$crate::api::query::QueryString,
            ) -> Result<Self, $crate::problem::Problem> {
                Ok(Self { $($name: $value,)+ })
            }
        }
    };
}
pub(super) use parameters;

/// The schema of a parameter that has one of some words.
pub(super) fn one_of<W: Into<Value>>(
    words: impl IntoIterator<Item = W>,
    default: Option<&str>,
) -> RefOr<Schema> {
    let words = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(words))
        .default(default.map(Value::from));
    RefOr::T(Schema::Object(words.build()))
}

/// Names, each also with the leading `-` of the descending order.
pub(super) fn in_both_directions<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = String> {
    let both = |name: &str| [name.to_owned(), format!("-{name}")];
    names.into_iter().flat_map(both)
}

/// Defines types that stand for such parameters in the documentation: their words,
/// and the one that counts when absent.
macro_rules! words {
    ($($(#[$($note:tt)*])* $Name:ident = $words:expr, $default:expr;)+) => {$(
        $(#[$($note)*])*
        #[derive(Debug)]
        pub(crate) enum $Name {}

        impl utoipa::PartialSchema for $Name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::api::query::one_of($words, $default)
            }
        }

        impl utoipa::ToSchema for $Name {}
    )+};
}
pub(super) use words;

words! {
    /// Whether tasks count that a model may know.
    Seen = ["include", "exclude"], Some("include");
    /// Whether something is wanted that is not by default.
    NoOrYes = ["no", "yes"], Some("no");
}

/// One group of parameters, or a pair of which each may be a pair again.
pub(crate) trait FromQuery: Sized {
    fn documented() -> Vec<Parameter>;

    fn from_query(query: &QueryString) -> Result<Self, Problem>;
}

impl<T: QueryParameters> FromQuery for T {
    fn documented() -> Vec<Parameter> {
        T::into_params(|| Some(ParameterIn::Query))
    }

    fn from_query(query: &QueryString) -> Result<Self, Problem> {
        T::read(query)
    }
}

impl<A: FromQuery, B: FromQuery> FromQuery for (A, B) {
    fn documented() -> Vec<Parameter> {
        [A::documented(), B::documented()].concat()
    }

    fn from_query(query: &QueryString) -> Result<Self, Problem> {
        Ok((A::from_query(query)?, B::from_query(query)?))
    }
}

impl<S: Sync, T: FromQuery> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let documented = T::documented();
        let names = documented.into_iter().map(|parameter| parameter.name);
        let query = QueryString::new(&parts.uri, names.collect())?;
        T::from_query(&query).map(Self)
    }
}

/// The parameters of a request: documented names, each at most once.
#[derive(Debug)]
pub(crate) struct QueryString {
    names: Vec<String>,
    pairs: Vec<(String, String)>,
}

impl QueryString {
    fn new(uri: &Uri, names: Vec<String>) -> Result<Self, Problem> {
        type Pairs = axum::extract::Query<Vec<(String, String)>>;
        let axum::extract::Query(pairs) = Pairs::try_from_uri(uri)
            .map_err(|e| Problem::about_parameter("query", e.to_string()))?;
        let query = Self { names, pairs };
        for (position, (name, _)) in query.pairs.iter().enumerate() {
            let shown: String = name.chars().take(100).collect();
            if !query.names.contains(name) {
                let names = match query.names.as_slice() {
                    [] => "none".to_owned(),
                    names => names.join(", "),
                };
                let detail = format!("`{shown}` is not a parameter here; there are {names}");
                return Err(Problem::about_parameter(shown, detail));
            }
            let earlier = &query.pairs[..position];
            if earlier.iter().any(|(earlier, _)| earlier == name) {
                let detail = format!("`{name}` is given more than once");
                return Err(Problem::about_parameter(name, detail));
            }
        }
        Ok(query)
    }

    /// The text of `name`, if it is given. An empty one counts as absent: forms send
    /// every field.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        debug_assert!(
            self.names.iter().any(|known| known == name),
            "`{name}` is not documented"
        );
        let pair = self.pairs.iter().find(|(known, _)| known == name);
        let text = pair.map(|(_, value)| value.as_str());
        text.filter(|text| !text.is_empty())
    }

    /// The value of `name`, if it is given; `must` completes "it must be …".
    pub(super) fn parse<T>(
        &self,
        name: &str,
        must: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let read = |value| parse(value).ok_or_else(|| Problem::parameter(name, value, must));
        self.value(name).map(read).transpose()
    }

    /// One of two words, as the value it stands for; the default when absent.
    pub(super) fn word<T: Default>(&self, name: &str, words: [(&str, T); 2]) -> Result<T, Problem> {
        let must = format!("`{}` or `{}`", words[0].0, words[1].0);
        let value = self.parse(name, &must, |text| {
            let found = words.into_iter().find(|(word, _)| *word == text);
            found.map(|(_, value)| value)
        });
        Ok(value?.unwrap_or_default())
    }

    /// Kinds of runs; all when empty.
    pub(super) fn kinds(&self) -> Result<Vec<Kind>, Problem> {
        let must = "`human`, `measured`, `imported` or several of them, separated by commas";
        let kinds = |text: &str| text.split(',').map(Kind::from_name).collect::<Option<_>>();
        Ok(self.parse("kind", must, kinds)?.unwrap_or_default())
    }

    /// A text of at most [`MAX_TEXT`] bytes.
    pub(super) fn text(&self, name: &str, must: &str) -> Result<Option<String>, Problem> {
        self.parse(name, must, |text| {
            (text.len() <= MAX_TEXT).then(|| text.to_owned())
        })
    }

    /// A whole number from 1.
    pub(super) fn count(&self, name: &str) -> Result<Option<u32>, Problem> {
        self.parse(name, "a whole number from 1", |text| {
            text.parse().ok().filter(|n| *n >= 1)
        })
    }

    /// A whole number from 1 to 500.
    pub(super) fn limit(&self) -> Result<Option<u32>, Problem> {
        self.parse("limit", "a whole number from 1 to 500", |text| {
            text.parse().ok().filter(|n| (1..=500).contains(n))
        })
    }

    pub(super) fn split(&self) -> Result<Option<String>, Problem> {
        let must = "the name of a split: letters, digits, `.`, `_` and `-`";
        self.parse("split", must, |text| {
            is_plain_name(text).then(|| text.to_owned())
        })
    }

    /// A day of the calendar.
    pub(super) fn day(&self, name: &str) -> Result<Option<String>, Problem> {
        self.parse(name, "a day, `YYYY-MM-DD`", |text| {
            is_day(text).then(|| text.to_owned())
        })
    }

    pub(super) fn task(&self) -> Result<Option<TaskId>, Problem> {
        self.parse("task", "the id of a task", |text| TaskId::new(text).ok())
    }

    /// γ, 1 when absent.
    pub(super) fn gamma(&self) -> Result<Gamma, Problem> {
        let (least, most) = (Gamma::RANGE.start(), Gamma::RANGE.end());
        let must = format!("a number from {least} to {most}");
        let gamma = self.parse("gamma", &must, |text| text.parse().ok());
        Ok(gamma?.unwrap_or(Gamma::ONE))
    }

    pub(super) fn mode(&self) -> Result<Mode, Problem> {
        let mode = self.parse("mode", "`tdd`, `rdd` or `impossible`", Mode::from_name)?;
        Ok(mode.unwrap_or_default())
    }

    pub(super) fn convention(&self) -> Result<Convention, Problem> {
        let convention = self.parse("convention", "`paper` or `reference`", |text| {
            text.parse().ok()
        });
        Ok(convention?.unwrap_or_default())
    }
}

/// Refuses the parameters of a request: its handler reads none.
pub(crate) async fn refuse_parameters(request: Request, next: Next) -> Result<Response, Problem> {
    QueryString::new(request.uri(), Vec::new())?;
    Ok(next.run(request).await)
}

parameters! {
    /// Which page of a list.
    struct PageParameters of |query| {
        /// The largest number of items.
        #[param(minimum = 1, maximum = 500, default = 100)]
        limit: Option<u32> = query.limit()?,
        /// The `next` of the previous page.
        after: Option<String> = query.parse("after", "the `next` of the previous page", |text| {
            (text.len() <= MAX_AFTER).then(|| text.to_owned())
        })?,
    }
}

impl From<PageParameters> for PageRequest {
    fn from(PageParameters { limit, after }: PageParameters) -> Self {
        Self { limit, after }
    }
}
