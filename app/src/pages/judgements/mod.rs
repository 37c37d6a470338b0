//! Judgements of a run: models answer the questions of a rubric about each
//! iteration. The page shows the counts of each judge, the iterations behind a
//! count, and the form that begins.

mod data;

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::judge::{Answer, Criterion, CriterionAnswer, JudgedRun, Judgement, Quote};

use self::data::{Address, PageData, page_data};
use crate::components::CollectAny;
use crate::components::{
    Form, FormAnswer, InPlace, ListTable, LongText, PageTop, Part, PartLinks, PostForm, Time,
    WorkNote, crumb, fetched, loaded,
};
use crate::format;
use crate::pages::routes::{iteration_href, judgements_href, run_href, trajectories_href};
use crate::query::of_address;

/// Iterations on a page.
const SIZE: usize = 20;

#[component]
pub fn JudgementsPage() -> impl IntoView {
    let form = Form::new("judge", FormAnswer::of_page());
    let address = of_address(Address::of);
    let resource = fetched(move || address.get(), page_data);
    loaded(resource, move |data| {
        view! { <InPlace/><JudgementsView data form/> }
    })
}

#[component]
fn JudgementsView(data: PageData, form: Form) -> impl IntoView {
    let PageData {
        address,
        model,
        judged,
        work,
        plan,
    } = data;
    let run = address.run.clone();
    let none = (judged.is_empty() && work.is_none()).then(|| {
        view! { <p class="empty">"No model has been asked about this run."</p> }
    });
    let judges = judged.into_iter().enumerate().map(|(position, judged)| {
        let is_open = address.judge == position;
        let address = match is_open {
            true => address.clone(),
            false => Address {
                run: run.clone(),
                judge: position,
                ..Address::default()
            },
        };
        view! { <JudgeView address judged is_open/> }
    });
    let judges = judges.collect_any();
    let json = format!("/api/v1/runs/{run}/judgements");
    let begin = plan.map(|plan| view! { <Begin run=run.clone() form plan/> });
    view! {
        <PageTop
            title=format!("Judgements of {model}")
            description=format!("What models say of the iterations of {model}, by the questions of a rubric.")
            crumbs=vec![crumb("/runs", "Runs"), crumb(run_href(&run), &model), crumb(trajectories_href(&run, None, None, 0), "Trajectories")]
            heading="Judgements"
        >
            <p class="lede">
                "What models say of the iterations of this run, by the questions of a rubric. Models err, and an agent's own words may sway them: read the quotes. Nothing here is part of a score. "
                <a href=json>"JSON"</a>
                "."
            </p>
        </PageTop>
        {work.map(|work| view! { <WorkNote work what="Judging"/> })}
        {none}
        {judges}
        {begin}
    }
}

#[component]
fn JudgeView(address: Address, judged: JudgedRun, is_open: bool) -> impl IntoView {
    let judge = &judged.judge;
    let title = format!(
        "{}, {}",
        judge.model,
        format::count(judge.criteria.len(), "question")
    );
    let label = title.clone();
    let (invented, quotes) = judged.invented_quotes();
    let cost = judged.micro_usd().map(format::dollars);
    let facts = format!(
        "{}, {} tokens, {}. {} of {} are not in the record. Prompt {}.",
        format::count(judged.judgements.len(), "iteration"),
        format::thousands(judged.usage().total()),
        cost.unwrap_or_else(|| "price unknown".into()),
        format::thousands(invented as u64),
        format::count(quotes, "quote"),
        &judge.prompt_digest[..judge.prompt_digest.len().min(12)],
    );
    let unanswered = match judged.unanswered() {
        0 => None,
        n => Some(format!(
            " {} without answers; begin again to ask again.",
            format::count(n, "iteration")
        )),
    };
    let counts = judge.criteria.iter().map(|criterion| {
        let cells = Answer::ALL.map(|answer| {
            let count = judged.count(&criterion.name, answer);
            let shown = format::thousands(count as u64);
            let href = address.with(Some((&criterion.name, answer)), 0);
            let label = format!("{shown} times {}: {}", answer.name(), criterion.name);
            let cell = match count {
                0 => view! { <span>{shown}</span> }.into_any(),
                _ => view! { <a href=href aria-label=label>{shown}</a> }.into_any(),
            };
            view! { <td role="cell" class="number" data-label=format::capital(answer.name())>{cell}</td> }
        });
        let Criterion { name, question } = criterion.clone();
        view! {
            <tr role="row">
                <th role="rowheader" scope="row">{name}<small class="judge-question">{question}</small></th>
                {cells.into_iter().collect_any()}
            </tr>
        }
    });
    let counts = counts.collect_any();
    let list =
        is_open.then(|| view! { <Judgements address=address.clone() judged=judged.clone()/> });
    view! {
        <section class="judge" aria-label=label>
            <h2>{title}</h2>
            <p class="quiet">
                {facts}
                {unanswered}
                " First asked by "{judge.by.clone()}", "<Time at=Some(judge.at.clone())/>"."
            </p>
            <ListTable caption="Answers by question" columns=&["Question", "Yes", "No", "Unclear"]>
                {counts}
            </ListTable>
            {list}
        </section>
    }
}

/// The iterations with the chosen answer, or all.
#[component]
fn Judgements(address: Address, judged: JudgedRun) -> impl IntoView {
    let chosen = address.chosen.clone();
    let is_chosen = |judgement: &Judgement| match &chosen {
        Some((name, answer)) => {
            let mut answers = judgement.answers.iter();
            answers.any(|given| given.name == *name && given.answer == *answer)
        }
        None => true,
    };
    let found: Vec<Judgement> = judged.judgements.into_iter().filter(is_chosen).collect();
    let part = Part::new(address.from, SIZE, found.len());
    let title = match &address.chosen {
        Some((name, answer)) => format!("“{}” to “{name}”", format::capital(answer.name())),
        None => "Iterations".to_owned(),
    };
    let all = address.chosen.is_some().then(|| {
        let href = address.with(None, 0);
        view! { " "<a href=href>"All iterations"</a> }
    });
    let run = address.run.clone();
    let shown = found[part.range()].iter().map(|judgement| {
        let answers = judgement.answers.iter();
        let wanted = |answer: &&CriterionAnswer| {
            address
                .chosen
                .as_ref()
                .is_none_or(|(name, _)| answer.name == *name)
        };
        let answers: Vec<CriterionAnswer> = answers.filter(wanted).cloned().collect();
        view! { <JudgementView run=run.clone() judgement=judgement.clone() answers/> }
    });
    let shown = shown.collect_any();
    let (linked, chosen) = (address.clone(), address.chosen.clone());
    let href = move |from: usize| {
        let chosen = chosen
            .as_ref()
            .map(|(name, answer)| (name.as_str(), *answer));
        linked.with(chosen, from)
    };
    view! {
        <h3 id=data::LIST>{title}</h3>
        <p class="quiet">
            {format!("{}.", format::count(part.all(), "iteration"))}
            {part.here()}
            {all}
            <PartLinks part items="iterations" href=Callback::new(href)/>
        </p>
        {shown}
    }
}

#[component]
fn JudgementView(
    run: String,
    judgement: Judgement,
    answers: Vec<CriterionAnswer>,
) -> impl IntoView {
    let href = iteration_href(&run, &judgement.evolution_id, judgement.iteration);
    let sample = (judgement.sample > 1).then(|| format!(", sample {}", judgement.sample));
    let place = format!(
        "{}{}, iteration {}",
        judgement.task_id,
        sample.unwrap_or_default(),
        judgement.iteration
    );
    let problem = judgement.problem.map(|why| {
        view! { <p class="note">"No answers: "{visible(&why).into_owned()}</p> }
    });
    let answers = answers.into_iter().map(|answer| {
        let why = visible(&answer.why).into_owned();
        let quotes = answer
            .quotes
            .into_iter()
            .map(|quote| view! { <QuoteView quote/> });
        view! {
            <div>
                <dt>{answer.name}": "<strong>{answer.answer.name()}</strong></dt>
                <dd>{why}{quotes.collect_any()}</dd>
            </div>
        }
    });
    view! {
        <article class="judgement">
            <h4><a href=href>{place}</a></h4>
            {problem}
            <dl>{answers.collect_any()}</dl>
        </article>
    }
}

#[component]
fn QuoteView(quote: Quote) -> impl IntoView {
    let place = match quote.found_in {
        Some(section) => format!("from the {}", section.name()),
        None => "not in the record".to_owned(),
    };
    view! {
        <blockquote>
            <code>{visible(&quote.text).into_owned()}</code>
            " "
            <small>{place}</small>
        </blockquote>
    }
}

#[component]
fn Begin(run: String, form: Form, plan: String) -> impl IntoView {
    let action = judgements_href(&run);
    let refused = form.problem("plan").is_some();
    view! {
        <details class="fold" open=refused>
            <summary>"Ask a model…"</summary>
            <PostForm form action button="Begin">
                <LongText
                    form
                    name="plan"
                    label="Model, budget and questions"
                    rows=24
                    value=plan
                    hint="TOML. The requirement, the change, the tests and the conversation of each iteration go to this model's provider. It goes on when you leave this page, and stops with the server; then begin again."
                />
            </PostForm>
        </details>
    }
}
