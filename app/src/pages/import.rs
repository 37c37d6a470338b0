//! Importing a dataset from the hub.

use leptos::either::EitherOf3;
use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use swe_ci_views::background::BackgroundWork;
use swe_ci_views::dataset::ImportRoom;
use swe_ci_views::disk::size_shown;

use crate::components::{
    ActionButton, Form, FormAnswer, PageTop, Refusal, WorkNote, crumb, fetched, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::query::{named, of_query};

/// The dataset of the paper.
const OFFICIAL: (&str, &str) = ("skylenage-ai/SWE-CI", "default");

/// What to import, as typed.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    from: String,
    split: String,
}

impl Wanted {
    fn of(query: &ParamsMap) -> Option<Self> {
        Some(Self {
            from: named(query, "from")?,
            split: named(query, "split")?,
        })
    }
}

struct Found {
    wanted: Option<Wanted>,
    /// What it takes, or why nobody can say.
    room: Option<Result<ImportRoom, AppError>>,
    work: Option<BackgroundWork>,
}

async fn found(wanted: Option<Wanted>) -> Result<Found, AppError> {
    let engine = crate::error::engine()?;
    let work = engine.import_work().await?;
    let room = match &wanted {
        None => None,
        Some(Wanted { from, split }) => {
            let room = engine.import_room(from, split).await;
            Some(room.map_err(AppError::from))
        }
    };
    Ok(Found { wanted, room, work })
}

#[component]
pub fn ImportPage() -> impl IntoView {
    let form = Form::new("import", FormAnswer::of_page());
    let wanted = of_query(Wanted::of);
    let resource = fetched(move || wanted.get(), found);
    view! {
        <PageTop
            title="Import a dataset"
            description="Import a split of a dataset from the hub."
            lede="An import downloads the tasks of a split and tests each at both ends. It continues where it stopped when it is started again."
            missing=true
            crumbs=vec![crumb("/datasets", "Datasets")]
        />
        <Refusal why=form.problem("from")/>
        {loaded(resource, |found| view! { <Import found/> })}
    }
}

/// First what it takes, then the button for it.
#[component]
fn Import(found: Found) -> impl IntoView {
    let Found { wanted, room, work } = found;
    let working = work.as_ref().is_some_and(BackgroundWork::is_active);
    let Wanted { from, split } = wanted.unwrap_or_else(|| Wanted {
        from: OFFICIAL.0.to_owned(),
        split: OFFICIAL.1.to_owned(),
    });
    let planned = match room {
        None => EitherOf3::A(()),
        Some(Err(why)) => EitherOf3::B(view! { <Refusal why=why.message/> }),
        Some(Ok(room)) => {
            let fields = vec![("from", from.clone()), ("split", split.clone())];
            EitherOf3::C(view! { <Room room fields working/> })
        }
    };
    view! {
        {work.map(|work| view! { <WorkNote work what="Import"/> })}
        <form class="form" method="get" action="/datasets/import">
            <div class="form-row">
                <label for="field-from">"Dataset"</label>
                <input id="field-from" name="from" value=from autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="field-from-hint" required=true/>
                <p class="quiet" id="field-from-hint">"OWNER/NAME on the Hugging Face hub, or the address of its page."</p>
            </div>
            <div class="form-row">
                <label for="field-split">"Split"</label>
                <input id="field-split" name="split" value=split autocomplete="off" autocapitalize="none" spellcheck="false" required=true/>
            </div>
            <button class="button" type="submit">"Show what it takes"</button>
        </form>
        {planned}
    }
}

#[component]
fn Room(room: ImportRoom, fields: Vec<(&'static str, String)>, working: bool) -> impl IntoView {
    let tasks = format::count(room.tasks, "task");
    let free = room.free_bytes.map(|free| {
        view! { <div><dt>"Free"</dt><dd>{size_shown(free)}</dd></div> }
    });
    let full = (!room.fits()).then(|| {
        view! { <p class="note" data-tone="warn">"The disk lacks room for the download. Free some at "<a href="/disk">"Disk"</a>" first."</p> }
    });
    let offered = room.fits() && !working;
    let button = offered.then(|| {
        let text = format!("Import {tasks}");
        view! { <ActionButton action="/datasets/import" deed="import" fields text/> }
    });
    view! {
        <section aria-labelledby="room-title">
            <h2 id="room-title">"What it takes"</h2>
            <dl class="facts">
                <div><dt>"Tasks"</dt><dd>{format::thousands(room.tasks)}</dd></div>
                <div><dt>"To download"</dt><dd>{size_shown(room.bytes)}</dd></div>
                {free}
            </dl>
            <p class="quiet">"The images take room in the container engine too, each shared layer once. Every task's tests run several times, so an import takes hours."</p>
            {full}
            {button}
        </section>
    }
}
