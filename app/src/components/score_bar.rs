use leptos::prelude::*;

/// A score from −1 to 1 as a bar that grows from zero, with room for an
/// interval around its end.
#[component]
pub fn ScoreBar(
    #[prop(into)] value: Signal<f64>,
    /// Whether the scale starts at −1; at 0 otherwise.
    #[prop(into)]
    signed: Signal<bool>,
    /// 95 % interval, drawn as whiskers.
    #[prop(optional, into)]
    interval: Option<(f64, f64)>,
) -> impl IntoView {
    let bar = move || span(0.0, value.get(), signed.get());
    let zero = move || {
        signed.get().then(|| {
            let x = percent(place(0.0, true));
            view! { <line class="score-zero" x1=x.clone() x2=x y1="0" y2="14"/> }
        })
    };
    let whiskers = interval.map(|(low, high)| {
        let ends = move || span(low, high, signed.get());
        view! {
            <rect class="score-whisker" x=move || ends().0 width=move || ends().1 y="6.25" height="1.5"/>
            <rect class="score-whisker" x=move || ends().0 width="1.5" y="3" height="8"/>
            <rect class="score-whisker" x=move || percent(place(high, signed.get())) width="1.5" y="3" height="8"/>
        }
    });
    view! {
        <svg class="score-bar" width="100%" height="14" aria-hidden="true" focusable="false">
            <rect class="score-track" y="3" width="100%" height="8" rx="2"/>
            <rect
                class="score-fill"
                class:score-fill-below=move || { value.get() < 0.0 }
                x=move || bar().0
                width=move || bar().1
                y="3"
                height="8"
                rx="2"
            />
            {zero}
            {whiskers}
        </svg>
    }
}

/// Where a bar between two scores starts and how long it is.
fn span(from: f64, to: f64, signed: bool) -> (String, String) {
    let (a, b) = (place(from, signed), place(to, signed));
    (percent(a.min(b)), percent((a - b).abs()))
}

/// A score's place on the scale, 0 to 1.
fn place(score: f64, signed: bool) -> f64 {
    if signed {
        f64::midpoint(score.clamp(-1.0, 1.0), 1.0)
    } else {
        score.clamp(0.0, 1.0)
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_from_zero_in_both_directions() {
        let check = |value, signed, x: &str, width: &str| {
            assert_eq!(span(0.0, value, signed), (x.to_owned(), width.to_owned()));
        };
        check(0.5, false, "0.00%", "50.00%");
        check(0.5, true, "50.00%", "25.00%");
        check(-0.5, true, "25.00%", "25.00%");
        check(-0.5, false, "0.00%", "0.00%");
        check(7.0, false, "0.00%", "100.00%");
    }
}
