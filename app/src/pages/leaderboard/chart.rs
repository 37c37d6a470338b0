use leptos::prelude::*;
use swe_ci_plots::{Curves, Size, Theme, evoscore_gamma};

use super::board_state::BoardState;
use super::export::api_href;
use crate::components::{Picture, Term};
use crate::glossary::Word;

/// With more lines, the chart waits until the slider rests: drawing it takes
/// longer than a frame.
const FOLLOWING: usize = 20;

/// EvoScore against γ. Drawn in two sizes; the style sheet shows the one that
/// fits, so that its text is always readable.
#[component]
pub fn GammaChart(curves: Memo<Curves>, state: BoardState, split: String) -> impl IntoView {
    let gamma = Memo::new(move |_| {
        let many = curves.with(|curves| curves.iter().len() > FOLLOWING);
        let following = if many { state.rested } else { state.gamma };
        following.get()
    });
    let drawn = move |size| {
        Memo::new(move |_| curves.with(|c| evoscore_gamma(c, gamma.get(), size, Theme::Page)))
    };
    let (wide, narrow) = (drawn(Size::WIDE), drawn(Size::NARROW));
    let download = move || api_href("plots/evoscore-gamma.svg", &split, &state.get());
    view! {
        <figure class="figure figure-beside">
            <figcaption>
                <h2>"EvoScore against γ"</h2>
                <p>
                    <Term word=Word::Gamma/>" sets how much later iterations weigh. At 1 all weigh the same; further right, the final state counts more."
                </p>
                <p>
                    "A line that falls to the right means code that gets harder to change; a rising line means an agent that catches up. Where lines cross, the ranking depends on your priorities."
                </p>
                <p class="figure-links">
                    <a href=download rel="external" download="">"Download as SVG"</a>
                </p>
            </figcaption>
            <div class="only-wide"><Picture figure=wide/></div>
            <div class="only-narrow"><Picture figure=narrow/></div>
        </figure>
    }
}
