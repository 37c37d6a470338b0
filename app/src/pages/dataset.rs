//! One split as a whole.

use leptos::prelude::*;
use swe_ci_views::browse::Size;
use swe_ci_views::dataset::{Counted, SplitContent, SplitDetail};

use crate::components::CollectAny;
use crate::components::{
    DeleteForm, FormAnswer, Funnel, PageTop, SpreadChart, crumb, fetched, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::pages::routes::{dataset_href, tasks_between, tasks_href};
use crate::query::{encode, path_part};

#[component]
pub fn DatasetPage() -> impl IntoView {
    let name = path_part("split");
    let answer = FormAnswer::of_page();
    let resource = fetched(move || name.get(), split);
    loaded(
        resource,
        move |(detail, content)| view! { <Split detail/><Deletion content answer name/> },
    )
}

/// A split, and what would go with it for those who may delete it.
async fn split(name: String) -> Result<(SplitDetail, Option<SplitContent>), AppError> {
    let engine = crate::error::engine()?;
    let content = engine.deletable_split(&name).await?;
    Ok((engine.split(&name).await?, content))
}

#[component]
fn Deletion(
    content: Option<SplitContent>,
    answer: StoredValue<FormAnswer>,
    #[prop(into)] name: Signal<String>,
) -> impl IntoView {
    content.map(|SplitContent { runs, tasks, snapshots }| {
        let name = name.get_untracked();
        let (runs, tasks) = (format::count(runs, "run"), format::count(tasks, "task"));
        let stays = match snapshots {
            0 => "The audit log stays.".to_owned(),
            n => format!("Its {} and the audit log stay.", format::count(n, "snapshot")),
        };
        let goes = format!("With it go {runs} with results and code, and those of its {tasks} that no other split has. {stays}");
        view! {
            <section class="steer" aria-labelledby="delete-title">
                <h2 id="delete-title">"Delete this split"</h2>
                <div class="steer-bar"><DeleteForm answer action=dataset_href(&name) name goes/></div>
            </section>
        }
    })
}

/// More repositories than this are summed up in one line.
const MOST_NAMES: usize = 100;

#[component]
fn Split(detail: SplitDetail) -> impl IntoView {
    let summary = detail.summary.clone();
    let name = summary.name.clone();
    let repositories = detail.repositories.len();
    let mean =
        |size: Size, words: fn(f64) -> String| detail.mean(size).map_or("–".to_owned(), words);
    let commits = mean(Size::Commits, |n| format::decimals(n, 1));
    let days = mean(Size::Days, format::span);
    let lines = mean(Size::Lines, |n| format::thousands(n.round() as u64));
    let gap = mean(Size::Gap, |n| format!("{} tests", format::decimals(n, 1)));
    let at = name.clone();
    let href = Callback::new(move |bin| tasks_between(Some(&at), bin));
    let any_spreads = !detail.spreads.is_empty();
    let spreads = detail.spreads.clone().into_iter();
    let spreads = spreads.map(|spread| view! { <SpreadChart spread href/> });
    let api = format!("/api/v1/splits/{}", encode(&name));
    view! {
        <PageTop
            title=format!("Split {name}")
            description=format!("{} from {}: what they are like, where they come from, and their datasheet.", format::count(summary.tasks, "task"), format::repositories(repositories))
            crumbs=vec![crumb("/datasets", "Datasets")]
            heading=name.clone()
            lede=detail.origin()
        />
        <dl class="facts">
            <div><dt>"Tasks"</dt><dd><a href=tasks_href(&name)>{format::thousands(summary.tasks)}</a></dd></div>
            <div><dt>"Can be run"</dt><dd>{format::thousands(summary.ready)}</dd></div>
            {detail.max_iterations.map(|n| view! { <div><dt>"Iterations scored"</dt><dd>{n}</dd></div> })}
            <div><dt>"Repositories"</dt><dd>{format::thousands(repositories as u64)}</dd></div>
            <div><dt>"Mean time between"</dt><dd>{days}</dd></div>
            <div><dt>"Mean commits between"</dt><dd>{commits}</dd></div>
            <div><dt>"Mean lines modified"</dt><dd>{lines}</dd></div>
            <div><dt>"Mean gap"</dt><dd>{gap}</dd></div>
        </dl>
        {(!detail.funnel.is_empty()).then(|| view! {
            <section aria-labelledby="funnel-title">
                <h2 id="funnel-title">"Curation"</h2>
                <Funnel stages=detail.funnel.clone()/>
            </section>
        })}
        {any_spreads.then(|| view! {
            <section aria-labelledby="sizes-title">
                <h2 id="sizes-title">"Sizes"</h2>
                <p class="quiet">"Of the tasks that can be run. Each bar leads to the tasks in it."</p>
                <div class="spreads">{spreads.collect_any()}</div>
            </section>
        })}
        <Names title="Repositories" id="repositories" split=name.clone() parameter="repo" names=detail.repositories.clone()/>
        <Names title="Licences" id="licences" split=name.clone() parameter="licence" names=detail.licences.clone()/>
        {(detail.audited.tasks > 0).then(|| view! {
            <section aria-labelledby="audited-title">
                <h2 id="audited-title">"How far its tests can be trusted"</h2>
                <p>{detail.audited.text(detail.summary.ready)}</p>
            </section>
        })}
        <Findings findings=detail.findings.clone() split=name.clone()/>
        <section aria-labelledby="take-title">
            <h2 id="take-title">"Downloads"</h2>
            <ul class="take-along">
                <li><a href=format!("{api}/datasheet.md")>"Datasheet"</a>": what it was made for, of what, and how"</li>
                <li><a href=format!("{api}/metadata.csv")>"Metadata as CSV"</a>": the file of the official layout, with the gaps found here"</li>
                <li><a href=api>"All of this as JSON"</a></li>
            </ul>
            <dl class="record">
                <div><dt>"Digest"</dt><dd><code>{detail.digest}</code></dd></div>
                <div><dt>"First imported"</dt><dd>{format::minute(&detail.created_at)}</dd></div>
            </dl>
        </section>
    }
}

/// Names with their numbers of tasks, each with a link to them.
#[component]
fn Names(
    title: &'static str,
    id: &'static str,
    split: String,
    parameter: &'static str,
    names: Vec<Counted>,
) -> impl IntoView {
    (!names.is_empty()).then(|| {
        let rest = names.len().saturating_sub(MOST_NAMES);
        let more = (rest > 0).then(|| view! { <li>{format!("and {rest} others")}</li> });
        let of_split = tasks_href(&split);
        let item = |Counted { name, tasks }: Counted| {
            let href = format!("{of_split}&{parameter}={}", encode(&name));
            view! {
                <li><a href=href>{name}</a>" "<span class="quiet">{format::count(tasks, "task")}</span></li>
            }
        };
        let title_id = format!("{id}-title");
        view! {
            <section aria-labelledby=title_id.clone()>
                <h2 id=title_id.clone()>{title}</h2>
                <ul class="names">{names.into_iter().take(MOST_NAMES).map(item).collect_any()}{more}</ul>
            </section>
        }
    })
}

#[component]
fn Findings(findings: Vec<Counted>, split: String) -> impl IntoView {
    let href = format!("{}&findings=some", tasks_href(&split));
    (!findings.is_empty()).then(|| {
        let item = |Counted { name, tasks }: Counted| {
            view! { <li>{format!("{name}: {}", format::count(tasks, "task"))}</li> }
        };
        view! {
            <section aria-labelledby="findings-title">
                <h2 id="findings-title">"Findings of preparation"</h2>
                <ul class="names">{findings.into_iter().map(item).collect_any()}</ul>
                <p><a href=href>"The tasks with findings"</a></p>
            </section>
        }
    })
}
