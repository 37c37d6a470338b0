use leptos::prelude::*;
use swe_ci_islands as islands;
use swe_ci_plots::{Figure, Mark};

/// A figure whose marks show their texts.
#[component]
pub fn Picture(
    figure: Figure,
    /// The address of each mark.
    #[prop(optional, into)]
    href: Option<Callback<usize, Option<String>>>,
) -> impl IntoView {
    let mark = |(index, mark): (usize, Mark)| islands::MarkPoint {
        x: rounded(mark.px),
        y: rounded(mark.py),
        label: mark.label,
        line: mark.line,
        href: href.and_then(|href| href.run(index)),
    };
    let marks = figure.marks.into_iter().enumerate().map(mark).collect();
    view! {
        <islands::Picture width=figure.size.width height=figure.size.height marks>
            <div inner_html=figure.svg></div>
        </islands::Picture>
    }
}

/// To tenths of a pixel.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
