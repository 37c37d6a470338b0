//! A curation, running or ended.

use crate::components::CollectAny;
use crate::components::Poll;
use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::curation::{
    BuildAttempt, CandidateView, CurationDetail, CurationState, Fate, PreparedCandidate,
    RepositoryView,
};

use crate::components::{
    Form, FormAnswer, Funnel, ListTable, PageTop, Tag, Time, Tone, crumb, fetched, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::pages::routes::{curate_href, curation_href, dataset_href};
use crate::pages::task::PreparationFacts;
use crate::query::path_part;

/// How often the page of a running curation is rendered anew.
const SECONDS: u32 = 3;

pub async fn curation(id: String) -> Result<CurationDetail, AppError> {
    Ok(crate::error::engine()?.curation(&id).await?)
}

#[component]
pub fn CurationPage() -> impl IntoView {
    let form = Form::new("cancel", FormAnswer::of_page());
    let id = path_part("id");
    loaded(fetched(move || id.get(), curation), move |detail| {
        view! { <Curation detail form/> }
    })
}

#[component]
fn Curation(detail: CurationDetail, form: Form) -> impl IntoView {
    let summary = detail.summary;
    let problem = form.problem("cancel");
    let id = summary.curation_id.clone();
    let split = summary.split.clone();
    let cancel = (!summary.state.is_over()).then(|| {
        view! {
            <form method="post" action=curation_href(&id)>
                <button class="button" type="submit" name="deed" value="cancel">"Cancel it"</button>
            </form>
        }
    });
    let status = match &summary.state {
        CurationState::Queued => Either::Left("It is waiting for a worker."),
        CurationState::Running => Either::Left("It is running; this page follows it."),
        CurationState::InReview => {
            Either::Left("Its tasks wait for your decision. None is published before.")
        }
        CurationState::Cancelled => Either::Left("It was cancelled. Its findings stay."),
        CurationState::Failed { reason } => Either::Right(reason.clone()),
        CurationState::Finished => Either::Left("Its split can be run."),
    };
    let in_review = summary.state == CurationState::InReview;
    let poll = (!summary.state.rests()).then(|| view! { <Poll seconds=SECONDS/> });
    let done = (summary.state == CurationState::Finished).then(|| {
        let href = dataset_href(&split);
        view! { <p><a class="button" href=href>"The split"</a></p> }
    });
    let again = matches!(
        summary.state,
        CurationState::Failed { .. } | CurationState::Cancelled
    );
    let again = again.then(|| {
        let href = curate_href(&id);
        view! { <p><a class="button" href=href>"Edit plan and retry"</a></p> }
    });
    view! {
        {poll}
        <PageTop
            title=format!("Curation of {split}")
            description="A split being made from git histories."
            missing=true
            crumbs=vec![crumb("/datasets", "Datasets"), crumb("/datasets/new", "Curations")]
            heading=split
        >
            <p class="tags"><Tag text=summary.state.name().replace('_', " ") tone=tone(&summary.state)/></p>
            <p class="lede" role="status">{status}</p>
            {done}
            {again}
        </PageTop>
        {problem.map(|why| view! { <p class="form-problem" role="alert">{why}</p> })}
        <p class="quiet">"Begun "<Time at=Some(summary.created_at)/>{summary.reviewed_at.map(|at| view! { ", reviewed "<Time at=Some(at)/> })}{summary.finished_at.map(|at| view! { ", ended "<Time at=Some(at)/> })}</p>
        {cancel}
        <section aria-labelledby="stages-title">
            <h2 id="stages-title">"Stages"</h2>
            <Funnel stages=summary.funnel/>
        </section>
        {in_review.then(|| view! { <Review id=id.clone() candidates=&detail.candidates form/> })}
        <Repositories repositories=detail.repositories/>
        <Candidates candidates=detail.candidates/>
        <section aria-labelledby="plan-title">
            <h2 id="plan-title">"Plan"</h2>
            <details><summary>"Configuration"</summary><pre class="command" tabindex="0"><code>{detail.plan}</code></pre></details>
            <p class="taken"><a href=format!("/api/v1/curations/{id}")>"All of this as JSON"</a></p>
        </section>
    }
}

fn tone(state: &CurationState) -> Tone {
    match state {
        CurationState::Finished => Tone::Good,
        CurationState::Failed { .. } | CurationState::Cancelled => Tone::Warn,
        CurationState::Queued | CurationState::Running | CurationState::InReview => Tone::Accent,
    }
}

/// The tasks that wait for a decision, with what is known of each.
#[component]
fn Review<'a>(id: String, candidates: &'a [CandidateView], form: Form) -> impl IntoView + use<> {
    let form = form.named("review");
    let waiting = |candidate: &CandidateView| {
        let prepared = candidate.prepared.clone();
        prepared.filter(|_| candidate.fate == Fate::Waiting)
    };
    let item = |candidate: &CandidateView| {
        let PreparedCandidate {
            target_passed,
            gap,
            preparation,
        } = waiting(candidate)?;
        let task = candidate.task.clone();
        let span = format!(
            "{} in {}, {}, a gap of {}",
            format::count(candidate.commits as usize, "commit"),
            format::span(candidate.days),
            format::count(candidate.modified_lines as usize, "line"),
            format::count(gap as usize, "test"),
        );
        let (drop, reason) = (format!("drop:{task}"), format!("reason:{task}"));
        let dropped = form.kept(&drop).is_some();
        let why = form.kept(&reason).unwrap_or_default();
        Some(view! {
            <li>
                <fieldset class="review">
                    <legend>{task}</legend>
                    <p>{span}</p>
                    <details>
                        <summary>{format::count(preparation.findings.len(), "finding")}", and how it was prepared"</summary>
                        <PreparationFacts preparation gap target_passed/>
                    </details>
                    <label class="box"><input type="checkbox" name=drop value="yes" checked=dropped/>" Drop it"</label>
                    <label class="field">"Why it is dropped"<input type="text" name=reason value=why maxlength="500"/></label>
                </fieldset>
            </li>
        })
    };
    let items = candidates.iter().filter_map(item).collect_any();
    let problem = form.problem("review");
    view! {
        <section aria-labelledby="review-title">
            <h2 id="review-title">"Review"</h2>
            <p class="quiet">"Drop the tasks that should not be in the split; the others are published. No other candidate takes the place of a dropped one."</p>
            {problem.map(|why| view! { <p class="form-problem" role="alert">{why}</p> })}
            <form method="post" action=curation_href(&id)>
                <ul class="review-list">{items}</ul>
                <button class="button" type="submit" name="deed" value="publish">"Publish the others"</button>
            </form>
        </section>
    }
}

#[component]
fn Repositories(repositories: Vec<RepositoryView>) -> impl IntoView {
    let row = |repository: RepositoryView| {
        view! {
            <tr role="row">
                <th role="rowheader" scope="row" class="col-model">
                    {repository.name}
                    <small>{repository.source}</small>
                </th>
                <td role="cell" data-label="Result"><Became fate=repository.fate/></td>
                <td role="cell" data-label="Licence">{repository.licence.unwrap_or_else(|| "–".into())}</td>
                <td role="cell" data-label="Commits">{format::thousands(repository.commits)}</td>
                <td role="cell" data-label="Candidates">{format::thousands(repository.candidates)}</td>
            </tr>
        }
    };
    (!repositories.is_empty()).then(|| {
        view! {
            <section aria-labelledby="repositories-title">
                <h2 id="repositories-title">"Repositories"</h2>
                <ListTable caption="Repositories" columns=&["Repository", "Result", "Licence", "Commits", "Candidates"]>
                    {repositories.into_iter().map(row).collect_any()}
                </ListTable>
            </section>
        }
    })
}

#[component]
fn Candidates(candidates: Vec<CandidateView>) -> impl IntoView {
    let row = |candidate: CandidateView| {
        view! {
            <tr role="row">
                <th role="rowheader" scope="row" class="col-model">
                    {candidate.task}
                    <Attempts attempts=candidate.attempts/>
                </th>
                <td role="cell" data-label="Stage">{candidate.stage.name()}</td>
                <td role="cell" data-label="Result"><Became fate=candidate.fate/></td>
                <td role="cell" data-label="Commits">{format::thousands(candidate.commits)}</td>
                <td role="cell" data-label="Time between">{format::span(candidate.days)}</td>
                <td role="cell" data-label="Lines">{format::thousands(candidate.modified_lines)}</td>
            </tr>
        }
    };
    (!candidates.is_empty()).then(|| {
        view! {
            <section aria-labelledby="candidates-title">
                <h2 id="candidates-title">"Candidates"</h2>
                <p class="quiet">"Those that advanced furthest first."</p>
                <ListTable caption="Candidates" columns=&["Candidate", "Stage", "Result", "Commits", "Time between", "Lines"]>
                    {candidates.into_iter().map(row).collect_any()}
                </ListTable>
            </section>
        }
    })
}

#[component]
fn Became(fate: Fate) -> impl IntoView {
    match fate {
        Fate::Waiting => Either::Left(view! { <Tag text="waits".to_owned()/> }),
        Fate::Survived => Either::Left(view! { <Tag text="stayed".to_owned() tone=Tone::Good/> }),
        Fate::Dropped { reason, detail } => Either::Right(view! {
            <Tag text=reason tone=Tone::Warn/>
            <small class="fate">{detail}</small>
        }),
    }
}

/// The environments that were tried, each with its changes and its outcome.
#[component]
fn Attempts(attempts: Vec<BuildAttempt>) -> impl IntoView {
    let item = |attempt: BuildAttempt| {
        let change = (!attempt.change.is_empty())
            .then(|| view! { <p><strong>"Changed: "</strong>{attempt.change}</p> });
        view! {
            <li>
                {change}
                <p>{attempt.outcome}" ("{format::seconds(attempt.seconds)}")"</p>
                <details><summary>"Its Dockerfile"</summary><pre class="command" tabindex="0"><code>{attempt.dockerfile.join("\n")}</code></pre></details>
            </li>
        }
    };
    (!attempts.is_empty()).then(|| {
        let count = format::count(attempts.len(), "environment");
        view! {
            <details class="attempts">
                <summary>{count}" tried"</summary>
                <ol>{attempts.into_iter().map(item).collect_any()}</ol>
            </details>
        }
    })
}
