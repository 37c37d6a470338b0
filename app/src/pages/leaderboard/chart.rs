use leptos::prelude::*;

use super::looking::Looking;
use super::take::api_href;
use crate::components::{Picture, Term};
use crate::glossary::Word;
use crate::plots::{Curves, Size, Theme, evoscore_gamma};

/// With more lines than this the picture waits until the slider rests: to draw
/// it takes longer than a frame.
const FOLLOWING: usize = 20;

/// EvoScore against γ. Drawn in two sizes; the style sheet shows the one that
/// fits, so that its text is never too small to read.
#[component]
pub fn GammaChart(curves: Memo<Curves>, looking: Looking, split: String) -> impl IntoView {
    let gamma = Memo::new(move |_| {
        let many = curves.with(|curves| curves.iter().len() > FOLLOWING);
        let following = if many { looking.rested } else { looking.gamma };
        following.get()
    });
    let drawn = move |size| {
        Memo::new(move |_| curves.with(|c| evoscore_gamma(c, gamma.get(), size, Theme::Page)))
    };
    let (wide, narrow) = (drawn(Size::WIDE), drawn(Size::NARROW));
    let download = move || api_href("plots/evoscore-gamma.svg", &split, &looking.get());
    view! {
        <figure class="figure figure-beside">
            <figcaption>
                <h2>"EvoScore against γ"</h2>
                <p>
                    <Term word=Word::Gamma/>" sets how much later iterations weigh. At 1 all weigh the same; to the right, the score looks more and more at where an agent ends up."
                </p>
                <p>
                    "A line that falls to the right belongs to an agent whose code gets harder to change; one that rises catches up. Where lines cross, the ranking depends on what you value."
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
