use std::collections::HashMap;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_plots::{Layout, Size, Theme, figure};
use swe_ci_views::figures::{Cell, Data, Figure, Releases, Table};
use swe_ci_views::leaderboard::citation::{Citation, Cited};
use swe_ci_views::leaderboard::export::Basis;

use super::data::Shown;
use crate::components::CollectAny;
use crate::components::{Choice, Choices, Cite, LeaderSwitch, Picture, Tag, Tone};
use crate::format;
use crate::query::Reading;

/// The scales of PNG downloads: 2 for screens, more for print.
const SCALES: [u32; 3] = [2, 3, 4];

#[component]
pub(super) fn Section(
    which: Figure,
    data: Data,
    shown: StoredValue<Shown>,
    reading: Signal<Reading>,
) -> impl IntoView {
    let origin = match which.number() {
        Some(number) => format!("Figure {number} of the paper"),
        None => "Our own, not in the paper".to_owned(),
    };
    let (notes, basis) = shown.with_value(|shown| (notes(&data, shown), basis(which, shown)));
    let slug = which.name();
    let link = move |path: String| shown.with_value(|shown| shown.address_of(which, &path));
    // This figure with another setting.
    let with = move |set: fn(&mut Reading, bool), value: bool| {
        let mut reading = reading.get();
        set(&mut reading, value);
        format!("/figures{}#{slug}", reading.to_query())
    };
    let switch = (which == Figure::EvoscoreGamma).then(|| {
        let from_leader = shown.with_value(|shown| shown.from_leader);
        let href = move |value| with(|reading, value| reading.from_leader = value, value);
        view! { <LeaderSwitch from_leader href/> }
    });
    let either = move |label: &'static str,
                       now: bool,
                       set: fn(&mut Reading, bool),
                       choices: [(&str, &str); 2]| {
        let choice = |((label, hint), value): ((&str, &str), bool)| {
            Choice::new(label, hint, move || with(set, value), move || now == value)
        };
        let choices: Vec<Choice> = choices.into_iter().zip([false, true]).map(choice).collect();
        view! { <Choices label choices/> }
    };
    let order = matches!(data, Data::Bars(_)).then(|| {
        let by_rank = shown.with_value(|shown| shown.by_rank);
        let choices = [
            ("Value", "From the largest to the smallest"),
            ("Rank", "In the order of the leaderboard"),
        ];
        either(
            "Order",
            by_rank,
            |reading, value| reading.by_rank = value,
            choices,
        )
    });
    let range = (which == Figure::RankByGamma).then(|| {
        let papers = shown.with_value(|shown| shown.papers_range);
        let choices = [
            ("0.5–2", "The whole range of the control"),
            ("0.8–1.2", "The range of the paper's figure"),
        ];
        either(
            "γ from–to",
            papers,
            |reading, value| reading.papers_range = value,
            choices,
        )
    });
    let scales = SCALES.map(|scale| {
        let href = format!("{}&scale={scale}", link(format!("api/v1/plots/{slug}.png")));
        let text = format!("{}{scale}×", if scale == 2 { "PNG " } else { "" });
        let hint = format!("PNG {scale}×, {} pixels wide", scale * Size::PRINT.width);
        view! { <a href=href download=format!("{slug}-{scale}x.png") title=hint.clone() aria-label=hint>{text}</a> }
    });
    let for_paper = [Layout::Column, Layout::Page].map(|layout| {
        let width = layout.millimetres().unwrap_or_default();
        let file = |form: &'static str| {
            let path = link(format!("api/v1/plots/{slug}.{form}"));
            let href = format!("{path}&width={width}&caption=none");
            let name = format!("{slug}-{width}mm.{form}");
            let title = format!("{}, {width} mm wide", form.to_uppercase());
            view! { "  " <a href=href download=name title=title.clone() aria-label=title>{form.to_uppercase()}</a> }
        };
        view! { <li>{format!("{width} mm:")}{["pdf", "svg", "png"].map(file).collect_any()}</li> }
    });
    let citation = shown.with_value(|shown| cited(which, shown));
    let table = data.table();
    let lines = shown.with_value(|shown| shown.lines.clone());
    view! {
        <figure class="figure figure-beside paper-figure" id=slug data-lines="">
            <figcaption>
                <Tag text=origin tone=Tone::Plain/>
                <h2><a href=format!("#{slug}")>{which.title()}</a></h2>
                <p>{which.reading()}</p>
                <p class="quiet">{basis}</p>
                {switch}
                {order}
                {range}
                {notes.into_iter().map(|note| view! { <p class="quiet">{note}</p> }).collect_any()}
                <div class="figure-links">
                    <a href=link(format!("api/v1/plots/{slug}.svg")) download="">"SVG"</a>
                    {scales}
                    <a href=link(format!("api/v1/plots/{slug}.csv")) download="">"CSV"</a>
                    <a href=link(format!("embed/{slug}"))>"Embed"</a>
                    <details class="cite">
                        <summary>"For a paper"</summary>
                        <p class="quiet">"As wide as a column or a page, with letters of 8 points and without the title: the citation has its words."</p>
                        <ul>{for_paper.collect_any()}</ul>
                    </details>
                    <Cite what="Cite this figure" citation/>
                </div>
            </figcaption>
            <div class="figure-body">
                <Drawing which data shown/>
                <Numbers table title=which.title() lines/>
            </div>
        </figure>
    }
}

/// The figures without data, and how each gets some.
#[component]
pub(super) fn Empty(figures: Vec<Figure>) -> impl IntoView {
    let item = |which: &Figure| {
        view! {
            <li id=which.name()>
                <strong>{which.title()}": "</strong>
                {which.nothing()}". "
                {which.remedy()}
            </li>
        }
    };
    (!figures.is_empty()).then(|| {
        view! {
            <section class="figures-empty" aria-labelledby="figures-empty">
                <h2 id="figures-empty">"Without data yet"</h2>
                <ul>{figures.iter().map(item).collect_any()}</ul>
            </section>
        }
    })
}

/// The picture in two sizes, of which the style sheet shows the one that fits;
/// or why there is nothing to draw.
#[component]
pub(super) fn Drawing(which: Figure, data: Data, shown: StoredValue<Shown>) -> impl IntoView {
    if data.is_empty() {
        return Either::Left(view! {
            <p class="figure-nothing">
                <strong>{which.nothing()}"."</strong>
                " "
                {which.remedy()}
            </p>
        });
    }
    let series = shown.with_value(|shown| shown.series.clone());
    let drawn = |layout| figure(which, &data, &series, layout, Theme::Page);
    let (wide, narrow) = (drawn(Layout::Wide), drawn(Layout::Narrow));
    Either::Right(view! {
        <div class="only-wide"><Picture figure=wide/></div>
        <div class="only-narrow"><Picture figure=narrow/></div>
    })
}

fn cited(which: Figure, shown: &Shown) -> Citation {
    Citation {
        cited: Cited::Figure(which.name(), which.title()),
        basis: Basis {
            split: shown.split.clone().unwrap_or_default(),
            gamma: shown.gamma,
            convention: shown.convention,
            unseen: shown.unseen,
            made_on: shown.today.clone(),
            snapshot: shown.snapshot.clone(),
        },
        address: format!("{}#{}", shown.address_of(which, "figures"), which.name()),
        runs: shown.basis.runs,
        tasks: shown.basis.tasks,
        metric_version: METRIC_VERSION,
        platform_version: env!("CARGO_PKG_VERSION"),
    }
}

/// "40 tasks of 20 repositories, 12 runs, at γ 1.00."
fn basis(which: Figure, shown: &Shown) -> String {
    let gamma = match which.weighs() {
        true => format!(", at γ\u{a0}{}", format::gamma(shown.gamma)),
        false => String::new(),
    };
    format!("{}{gamma}.", shown.basis.in_words(shown.worse))
}

/// Sentences about data that is left out or comes from elsewhere.
pub(super) fn notes(data: &Data, shown: &Shown) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(left_out) = data.left_out() {
        let models = format::names(&left_out.models);
        notes.push(format!("Left out: {models}, because {}.", left_out.because));
    }
    notes.extend(data.notes(&shown.published));
    if let Data::Releases(Releases { published, .. }) = data
        && published.is_empty()
        && shown.published.tasks > 0
    {
        notes.push("Published figures are only known at γ = 1, and shown there.".into());
    }
    notes
}

/// Columns for programs; for people, the link of a row identifies its run.
const HIDDEN: [&str; 2] = ["run_id", "kind"];

/// The data of a figure, folded.
#[component]
pub(super) fn Numbers(
    table: Table,
    title: &'static str,
    /// The number of each run in the picture, by its id.
    lines: HashMap<String, usize>,
) -> impl IntoView {
    let run = table
        .columns
        .iter()
        .position(|column| column.name == "run_id");
    let line = |cells: &[Cell]| match &cells[run?] {
        Cell::Text(run_id) => lines.get(run_id).copied(),
        _ => None,
    };
    let shown =
        (0..table.columns.len()).filter(|at| !HIDDEN.contains(&table.columns[*at].name.as_str()));
    // Text columns are aligned left, wherever they are.
    let class = |at: usize| {
        let mut cells = table.rows.iter().map(|cells| &cells[at]);
        let is_words = cells.any(|cell| matches!(cell, Cell::Text(_)));
        if is_words { "" } else { "number" }
    };
    let shown: Vec<(usize, &'static str)> = shown.map(|at| (at, class(at))).collect();
    let head = |(at, class): &(usize, &'static str)| {
        view! { <th scope="col" class=*class>{table.columns[*at].title.clone()}</th> }
    };
    let head = shown.iter().map(head).collect_any();
    let row = |row: &Vec<Cell>| {
        let cells = shown.iter().map(|(at, class)| cell(*at, &row[*at], class));
        view! { <tr data-line=line(row)>{cells.collect_any()}</tr> }
    };
    view! {
        <details class="fold figure-numbers">
            <summary>"The numbers"</summary>
            <div class="table-frame" tabindex="0" role="region" aria-label=format!("{title}, the numbers")>
                <table>
                    <caption class="visually-hidden">{title}</caption>
                    <thead><tr>{head}</tr></thead>
                    <tbody>{table.rows.iter().map(row).collect_any()}</tbody>
                </table>
            </div>
        </details>
    }
}

fn cell(at: usize, cell: &Cell, class: &'static str) -> impl IntoView + use<> {
    let text = words(cell);
    match at {
        0 => Either::Left(view! { <th scope="row">{text}</th> }),
        _ => Either::Right(view! { <td class=class>{text}</td> }),
    }
}

fn words(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        // Large whole numbers get thousands separators.
        Cell::Number { value, places: 0 } if *value >= 0.0 => {
            format::thousands(value.round() as u64)
        }
        Cell::Number { value, places } => format::decimals(*value, *places),
        Cell::Whole(value) => format::thousands(*value),
        Cell::Nothing => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::requirement::Mode;
    use swe_ci_plots::Series;
    use swe_ci_views::figures;
    use swe_ci_views::leaderboard::Published;

    fn shown() -> Shown {
        Shown {
            splits: Vec::new(),
            split: Some("a b".into()),
            mode: Mode::Tdd,
            gamma: Gamma::new(1.2).unwrap(),
            convention: Convention::Reference,
            worse: 0,
            basis: figures::Basis {
                runs: 12,
                tasks: 40,
                repositories: 1,
            },
            series: Series::default(),
            lines: HashMap::new(),
            figures: Vec::new(),
            unscored: Vec::new(),
            unranked: Vec::new(),
            published: Published {
                split: "default".into(),
                tasks: 100,
                ..Published::default()
            },
            today: "2026-11-24".into(),
            from_leader: false,
            by_rank: false,
            papers_range: false,
            snapshot: None,
            unseen: false,
        }
    }

    #[test]
    fn what_it_rests_on_in_words() {
        let check = |which, expect: &str| assert_eq!(basis(which, &shown()), expect);
        check(Figure::Solved, "40 tasks of 1 repository, 12 runs.");
        check(
            Figure::RankByGamma,
            "40 tasks of 1 repository, 12 runs, at γ\u{a0}1.20.",
        );
    }

    #[test]
    fn addresses() {
        assert_eq!(
            shown().address("embed/solved"),
            "/embed/solved?split=a%20b&gamma=1.20&convention=reference"
        );
        let relative = Shown {
            from_leader: true,
            papers_range: true,
            ..shown()
        };
        let check = |which, expect: &str| {
            assert_eq!(relative.address_of(which, "x"), expect);
        };
        let usual = "/x?split=a%20b&gamma=1.20&convention=reference";
        check(Figure::Solved, usual);
        check(Figure::EvoscoreGamma, &format!("{usual}&relative=leader"));
        check(Figure::RankByGamma, &format!("{usual}&range=paper"));
    }

    #[test]
    fn published_points_are_named_as_such() {
        let data = |published| {
            let left_out = figures::LeftOut {
                models: Vec::new(),
                because: String::new(),
            };
            Data::Releases(Releases {
                points: Vec::new(),
                published,
                left_out,
            })
        };
        let check = |published, shown: &Shown, expect: &[&str]| {
            let notes = notes(&data(published), shown);
            assert_eq!(notes.len(), expect.len(), "{notes:?}");
            assert!(
                notes
                    .iter()
                    .zip(expect)
                    .all(|(note, part)| note.contains(part))
            );
        };
        check(Vec::new(), &shown(), &["only known at γ = 1"]);
        let rows = swe_ci_plots::fixture::published().rows;
        check(
            rows,
            &shown(),
            &["1 model as published, read off a figure, on the 100 tasks"],
        );
        let mut none = shown();
        none.published.tasks = 0;
        check(Vec::new(), &none, &[]);
    }

    #[test]
    fn cells_for_people() {
        let check = |cell: Cell, expect: &str| assert_eq!(words(&cell), expect);
        check(Cell::Text("a".into()), "a");
        check(Cell::number(Some(-0.1234), 3), "\u{2212}0.123");
        check(
            Cell::number(Some(1_234_567.8), 0),
            "1\u{202f}234\u{202f}568",
        );
        check(Cell::number(None, 0), "–");
        check(Cell::whole(Some(7u32)), "7");
    }
}
