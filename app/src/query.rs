//! The settings in addresses: read leniently (an invalid value counts as the
//! default) and written in one canonical form.

use std::str::FromStr;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use leptos_router::params::ParamsMap;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_views::leaderboard::{Columns, View};
use swe_ci_views::verification::Mark;

use crate::format;

/// A part of the page's path.
pub(crate) fn path_part(name: &'static str) -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |_| params.with(|params| params.get(name).unwrap_or_default()))
}

/// The settings in a page's query.
pub(crate) fn of_query<T>(read: fn(&ParamsMap) -> T) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    let query = use_query_map();
    Memo::new(move |_| query.with(read))
}

/// The settings in a page's path and query.
pub(crate) fn of_address<T>(read: fn(&ParamsMap, &ParamsMap) -> T) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    let (params, query) = (use_params_map(), use_query_map());
    Memo::new(move |_| params.with(|params| query.with(|query| read(params, query))))
}

/// The settings of the leaderboard.
pub(crate) fn reading_of(query: &ParamsMap) -> Reading {
    Reading {
        snapshot: named(query, "snapshot"),
        split: named(query, "split"),
        mode: mode_of(query),
        gamma: gamma_of(query),
        convention: parsed(query, "convention").unwrap_or_default(),
        published: query.get_str("published") != Some(OFF),
        view: view(query),
        from: parsed(query, "from").unwrap_or_default(),
        open: named(query, "open"),
        from_leader: query.get_str("relative") == Some(LEADER),
        by_rank: query.get_str("order") == Some(RANK),
        papers_range: query.get_str("range") == Some(PAPER),
    }
}

fn view(query: &ParamsMap) -> View {
    let names = list(query, "kind");
    let named_kind = |kind: &Kind| names.iter().any(|name| name == kind.name());
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(named_kind).collect();
    let columns = list(query, "columns");
    let sort = query.get_str("sort").and_then(|sort| sort.parse().ok());
    View {
        // Selecting all is the same as selecting none.
        kinds: match kinds.len() == Kind::ALL.len() {
            true => Vec::new(),
            false => kinds,
        },
        provider: named(query, "provider"),
        mark: query.get_str("mark").and_then(Mark::from_name),
        text: named(query, "text").unwrap_or_default(),
        unseen: query.get_str("seen") == Some(EXCLUDE),
        sort: sort.unwrap_or_default(),
        columns: Columns::of_names(columns.iter().map(String::as_str))
            .ok()
            .filter(|_| !columns.is_empty())
            .unwrap_or_default(),
    }
}

/// From repeated parameters, as checkboxes send them, or one with commas.
pub(crate) fn list(query: &ParamsMap, key: &str) -> Vec<String> {
    let given = query.get_all(key).unwrap_or_default();
    let each = given.iter().flat_map(|value| value.split(','));
    let each = each.filter(|name| !name.is_empty());
    each.map(str::to_owned).collect()
}

/// A parameter that is not empty.
pub(crate) fn named(query: &ParamsMap, key: &str) -> Option<String> {
    query.get(key).filter(|value| !value.is_empty())
}

/// A parameter that reads as a value.
pub(crate) fn parsed<T: FromStr>(query: &ParamsMap, key: &str) -> Option<T> {
    query.get_str(key)?.parse().ok()
}

/// The mode of the runs, by default tdd.
pub(crate) fn mode_of(query: &ParamsMap) -> Mode {
    let mode = query.get_str("mode").and_then(Mode::from_name);
    mode.unwrap_or_default()
}

/// γ, by default 1.
pub(crate) fn gamma_of(query: &ParamsMap) -> Gamma {
    query.get_str("gamma").and_then(gamma).unwrap_or(Gamma::ONE)
}

/// The range of γ that people can type: the one the metric is defined for.
pub(crate) const GAMMA_LEAST: f64 = 0.1;
pub(crate) const GAMMA_MOST: f64 = 10.0;

/// A number from a control or an address, rounded to hundredths.
pub(crate) fn gamma(text: &str) -> Option<Gamma> {
    let value: f64 = text.trim().parse().ok()?;
    let value = value.is_finite().then_some(value)?;
    let hundredths = (value.clamp(GAMMA_LEAST, GAMMA_MOST) * 100.0).round();
    Gamma::new(hundredths / 100.0).ok()
}

/// The query of the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// The day of the snapshot; the present when absent.
    pub snapshot: Option<String>,
    /// The selected split; by default the largest.
    pub split: Option<String>,
    /// The mode of the runs.
    pub mode: Mode,
    pub gamma: Gamma,
    pub convention: Convention,
    /// Whether rows with only published figures appear below the others.
    pub published: bool,
    /// Which rows, in which order, with which columns.
    pub view: View,
    /// How many of them come before the first one on the page.
    pub from: usize,
    /// The run whose row is open.
    pub open: Option<String>,
    /// Whether the chart over γ shows differences from the leader.
    pub from_leader: bool,
    /// Whether figures with a row for each run show them in the order of the
    /// ranking, instead of by their values.
    pub by_rank: bool,
    /// Whether ranks are shown for the γs of the paper's figure alone.
    pub papers_range: bool,
}

/// The value of `range=` that shows the γs of the paper's figure.
pub(crate) const PAPER: &str = "paper";

/// The value of `order=` that orders figures by the ranking.
const RANK: &str = "rank";

/// The value of `relative=` that subtracts the leader's score.
pub(crate) const LEADER: &str = "leader";

/// The value of `seen=` that counts only tasks no model can have seen.
pub(crate) const EXCLUDE: &str = "exclude";

/// The value of `published=` that hides those rows.
pub(crate) const OFF: &str = "off";

impl Reading {
    /// `?split=demo&gamma=1.20&convention=reference`, without defaults, `from` and
    /// `open`: another view begins with its first row, and none is open.
    pub(crate) fn to_query(&self) -> String {
        let mut query = Query::default();
        query.add("snapshot", self.snapshot.as_deref());
        query.add("split", self.split.as_deref());
        query.add_mode(self.mode);
        query.add_gamma(self.gamma);
        query.add_convention(self.convention);
        query.add("published", (!self.published).then_some(OFF));
        query.add("relative", self.from_leader.then_some(LEADER));
        query.add("order", self.by_rank.then_some(RANK));
        query.add("range", self.papers_range.then_some(PAPER));
        query.add_rows(&self.view);
        if self.view.columns != Columns::default() {
            query.add_columns(self.view.columns);
        }
        query.0
    }

    /// The path of the leaderboard: of now, or of the snapshot.
    pub(crate) fn path(&self) -> String {
        match &self.snapshot {
            Some(day) => format!("/snapshots/{}", encode(day)),
            None => "/".to_owned(),
        }
    }

    /// The address of the leaderboard with this query, from its first row on.
    pub(crate) fn href(&self) -> String {
        self.href_from(0)
    }

    /// The same from a later row on.
    pub(crate) fn href_from(&self, from: usize) -> String {
        self.href_at(from, None)
    }

    /// The same part of the view with this row open, or none.
    pub(crate) fn href_open(&self, run: Option<&str>) -> String {
        self.href_at(self.from, run)
    }

    fn href_at(&self, from: usize, open: Option<&str>) -> String {
        let current = Self {
            snapshot: None,
            ..self.clone()
        };
        Query(current.to_query())
            .with("from", (from > 0).then(|| from.to_string()))
            .with("open", open)
            .at(&self.path())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Query(pub String);

impl Query {
    pub(crate) fn of(fields: impl IntoIterator<Item = (impl AsRef<str>, String)>) -> Self {
        let fields = fields.into_iter();
        fields.fold(Self::default(), |query, (name, value)| {
            query.with(name.as_ref(), Some(value))
        })
    }

    pub(crate) fn add(&mut self, key: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.add_plain(key, &encode(value.as_ref()));
        }
    }

    /// [`Self::add`], to be continued.
    pub(crate) fn with(mut self, key: &str, value: Option<impl AsRef<str>>) -> Self {
        self.add(key, value);
        self
    }

    /// An address with this query.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{path}{}", self.0)
    }

    /// Adds nothing for the default.
    pub(crate) fn add_mode(&mut self, mode: Mode) {
        self.add("mode", (mode != Mode::default()).then_some(mode.name()));
    }

    /// Unless it is the default.
    pub(crate) fn add_gamma(&mut self, gamma: Gamma) {
        self.add("gamma", (gamma != Gamma::ONE).then(|| format::gamma(gamma)));
    }

    /// A ranking with all its settings, as the API and other sites are asked
    /// for it.
    pub(crate) fn of_ranking(
        snapshot: Option<&str>,
        split: Option<&str>,
        mode: Mode,
        gamma: Gamma,
        convention: Convention,
    ) -> Self {
        let mut query = Self::default();
        query.add("snapshot", snapshot);
        query.add("split", split);
        query.add_mode(mode);
        query.add("gamma", Some(format::gamma(gamma)));
        query.add("convention", Some(convention.name()));
        query
    }

    /// The value needs no encoding.
    fn add_plain(&mut self, key: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(key);
        self.0.push('=');
        self.0.push_str(value);
    }

    /// Adds nothing for the default.
    pub(crate) fn add_convention(&mut self, convention: Convention) {
        let other = convention != Convention::default();
        self.add("convention", other.then_some(convention.name()));
    }

    /// The columns of a view, including the default ones.
    pub(crate) fn add_columns(&mut self, columns: Columns) {
        self.add_plain("columns", &columns.to_string());
    }

    /// Which rows in which order, without defaults.
    pub(crate) fn add_rows(&mut self, view: &View) {
        if !view.kinds.is_empty() {
            let kinds: Vec<&str> = view.kinds.iter().map(|kind| kind.name()).collect();
            self.add_plain("kind", &kinds.join(","));
        }
        self.add("provider", view.provider.as_deref());
        self.add("mark", view.mark.map(Mark::name));
        self.add("text", (!view.text.is_empty()).then_some(&view.text));
        self.add("seen", view.unseen.then_some(EXCLUDE));
        let sorted = view.sort != View::default().sort;
        self.add("sort", sorted.then(|| view.sort.to_string()));
    }
}

/// Everything but RFC 3986's unreserved characters.
const RESERVED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes a text as one part of a path or query.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, &RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(pairs: &[(&'static str, &str)]) -> Reading {
        reading_of(&pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect())
    }

    #[test]
    fn wrong_values_are_defaults() {
        let default = reading(&[]);
        assert_eq!(default.gamma, Gamma::ONE);
        assert_eq!(default.convention, Convention::Paper);
        for wrong in ["", "x", "NaN", "inf", "1,5"] {
            assert_eq!(
                reading(&[
                    ("gamma", wrong),
                    ("convention", wrong),
                    ("mode", wrong),
                    ("published", wrong),
                    ("relative", wrong),
                    ("order", wrong),
                    ("range", wrong),
                    ("split", ""),
                    ("provider", ""),
                    ("kind", wrong),
                    ("seen", wrong),
                    ("sort", wrong),
                    ("columns", wrong)
                ]),
                default
            );
        }
    }

    #[test]
    fn only_unreserved_characters_stay_as_they_are() {
        assert_eq!(encode("aZ09-._~"), "aZ09-._~");
        assert_eq!(encode("a b/c+ä%"), "a%20b%2Fc%2B%C3%A4%25");
    }

    #[test]
    fn gamma_is_in_hundredths_and_in_range() {
        let check = |text, expect: &str| assert_eq!(format::gamma(gamma(text).unwrap()), expect);
        check("1.07", "1.07");
        check("1.0749", "1.07");
        check("0.1", "0.10");
        check("9", "9.00");
        check("0", "0.10");
        check("99", "10.00");
    }

    #[test]
    fn there_and_back() {
        let asked = reading(&[
            ("split", "a&b=ä"),
            ("gamma", "1.2"),
            ("mode", "rdd"),
            ("convention", "reference"),
            ("published", "off"),
            ("relative", "leader"),
            ("order", "rank"),
            ("range", "paper"),
        ]);
        assert_eq!(
            asked.to_query(),
            "?split=a%26b%3D%C3%A4&mode=rdd&gamma=1.20&convention=reference&published=off&relative=leader&order=rank&range=paper"
        );
        assert_eq!(reading(&[]).to_query(), "");
        let asked = reading(&[("mode", "rdd"), ("from", "100"), ("open", "a")]);
        assert_eq!(asked.to_query(), "?mode=rdd");
        let open = asked.href_open(asked.open.as_deref());
        assert_eq!(open, "/?mode=rdd&from=100&open=a");
        assert_eq!(asked.href_open(None), "/?mode=rdd&from=100");
        assert_eq!(asked.href_from(0), "/?mode=rdd");
    }

    #[test]
    fn a_snapshot_is_part_of_the_path() {
        let asked = reading(&[("snapshot", "2026-11-27"), ("gamma", "1.2")]);
        assert_eq!(asked.href(), "/snapshots/2026-11-27?gamma=1.20");
        assert_eq!(
            asked.href_from(100),
            "/snapshots/2026-11-27?gamma=1.20&from=100"
        );
        // Figures have it in their query.
        assert_eq!(asked.to_query(), "?snapshot=2026-11-27&gamma=1.20");
        assert_eq!(reading(&[("snapshot", "")]).href(), "/");
    }

    #[test]
    fn a_view_there_and_back() {
        let check = |pairs: &[(&'static str, &str)], expect: &str| {
            let asked = reading(pairs);
            assert_eq!(asked.to_query(), expect);
        };
        let all = "?kind=human,imported&provider=a%2Cb&text=glm%205&seen=exclude&sort=-solved&columns=evoscore,tokens";
        check(
            &[
                ("columns", "tokens"),
                ("columns", "evoscore"),
                ("sort", "-solved"),
                ("seen", "exclude"),
                ("text", "glm 5"),
                ("provider", "a,b"),
                ("kind", "imported,human"),
            ],
            all,
        );
        // A form without any choice.
        check(
            &[
                ("text", ""),
                ("provider", ""),
                ("kind", "measured"),
                ("kind", "imported"),
                ("kind", "human"),
                ("sort", "rank"),
                ("columns", "evoscore,zero-regression,solved,turns,tasks"),
            ],
            "",
        );
        check(&[("columns", "none")], "?columns=none");
    }
}
