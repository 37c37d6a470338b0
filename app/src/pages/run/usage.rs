//! The run's model usage, against its budget.

use leptos::prelude::*;
use swe_ci_core::agent::Budget;
use swe_ci_views::view::{RunDetail, Spent};

use crate::components::{Term, fact};
use crate::glossary::Word;
use crate::{format, labels};

/// Empty when nothing was counted; updated as evolutions end.
#[component]
pub(super) fn UsageFacts(detail: RwSignal<RunDetail>) -> impl IntoView {
    let taken =
        Memo::new(move |_| detail.with(|d| d.spent.map(|s| (s, d.summary.steering.budget))));
    move || {
        let (spent, budget) = taken.get()?;
        let figures = Figures::of(spent, &budget);
        let requests = figures.requests.map(|text| fact("Requests", text));
        let cost = figures.cost;
        let cost = cost.map(|text| fact(view! { <Term word=Word::Cost text="Cost"/> }, text));
        Some(view! {
            <dl class="facts taken" aria-label="Model usage">
                <div>
                    <dt><Term word=Word::Tokens text="Tokens"/></dt>
                    <dd>{figures.tokens}<small>{figures.within}</small></dd>
                </div>
                {requests}
                {cost}
            </dl>
        })
    }
}

#[derive(Debug, PartialEq)]
struct Figures {
    tokens: String,
    within: String,
    requests: Option<String>,
    cost: Option<String>,
}

impl Figures {
    fn of(Spent { usage, traffic }: Spent, budget: &Budget) -> Self {
        let most = |limit: Option<u64>| limit.map(format::thousands);
        let requests = traffic.map(|traffic| {
            let count = format::thousands(traffic.requests);
            let probes = match (traffic.probes, traffic.probe_micro_usd) {
                (0, _) => String::new(),
                (probes, 0) => format!(", and {} of the platform's own", format::thousands(probes)),
                (probes, cost) => format!(
                    ", and {} of the platform's own for {}",
                    format::thousands(probes),
                    format::dollars(cost)
                ),
            };
            let unfinished = match traffic.unfinished {
                0 => String::new(),
                unfinished => format!(
                    ", {} of them of unknown tokens",
                    format::thousands(unfinished)
                ),
            };
            labels::of_limit(count, most(budget.requests)) + &unfinished + &probes
        });
        let cost = traffic
            .and_then(|traffic| traffic.micro_usd)
            .map(|cost| labels::of_limit(format::dollars(cost), budget.usd.map(format::usd)));
        let parts = [Some(labels::tokens(usage)), labels::tokens_within(usage)];
        Self {
            tokens: labels::of_limit(format::thousands(usage.total()), most(budget.tokens)),
            within: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            requests,
            cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::usage::{Traffic, Usage};

    #[test]
    fn against_the_budget() {
        let usage = Usage {
            input_tokens: 900,
            cached_tokens: 100,
            output_tokens: 50,
            reasoning_tokens: 0,
        };
        let traffic = Traffic {
            requests: 12,
            micro_usd: Some(1_230_000),
            ..Traffic::default()
        };
        let mut spent = Spent {
            usage,
            traffic: Some(traffic),
        };
        let budget = Budget {
            tokens: Some(2_000),
            usd: Some(25.0),
            ..Budget::default()
        };
        let seen = Figures::of(spent, &budget);
        assert_eq!(seen.tokens, "950 of 2000");
        assert_eq!(seen.within, "900 in · 50 out, of it 100 cached");
        assert_eq!(seen.requests.as_deref(), Some("12"));
        assert_eq!(seen.cost.as_deref(), Some("$1.23 of $25"));
        spent.traffic = None;
        let seen = Figures::of(spent, &Budget::default());
        assert_eq!(
            (&*seen.tokens, seen.requests, seen.cost),
            ("950", None, None)
        );
    }
}
