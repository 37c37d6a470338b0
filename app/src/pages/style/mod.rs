//! The code style of one evolution compared with the oracle's, file by file.

mod versions;

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::style::{CodeVersion, StyleBeside, StyleTools};
use swe_ci_views::view::EvolutionDetail;

use self::versions::{ErosionVersions, Files, StyleVersions, named};
use crate::components::{InPlace, PageTop, Term, crumb, fetched, loaded};
use crate::error::AppError;
use crate::glossary::Word;
use crate::pages::evolution::evolution;
use crate::pages::iteration::{ChangedFiles, Layout};
use crate::pages::routes::{DIFF, EvolutionAddress, SPLIT, evolution_href, run_href, style_href};
use crate::query::{of_address, of_query};

#[component]
pub fn StylePage() -> impl IntoView {
    let address = of_address(EvolutionAddress::of);
    // Two versions of a file are shown side by side by default.
    let split = of_query(|query| query.get_str(DIFF).is_none_or(|layout| layout == SPLIT));
    let resource = fetched(move || address.get(), style_at);
    loaded(
        resource,
        move |shown| view! { <InPlace/><StylePageView shown split/> },
    )
}

/// The code style of an evolution, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    NotMeasured,
    /// The reason.
    CannotBeMeasured(String),
    Measured(Box<StyleBeside>),
}

pub async fn style_of(evolution: String) -> Result<Known, AppError> {
    let engine = crate::error::engine()?;
    Ok(match engine.style(&evolution).await? {
        None => Known::NotMeasured,
        Some(Err(why)) => Known::CannotBeMeasured(why),
        Some(Ok(style)) if style.last().is_none() => {
            Known::CannotBeMeasured("none of its code was scored".into())
        }
        Some(Ok(_)) => Known::Measured(Box::new(engine.style_beside(&evolution).await?)),
    })
}

/// An evolution with its code style.
#[derive(Debug, Clone)]
pub struct Shown {
    pub detail: EvolutionDetail,
    pub known: Known,
}

pub(super) async fn style_at(address: EvolutionAddress) -> Result<Shown, AppError> {
    let detail = evolution(address.run, address.task, address.sample).await?;
    let known = style_of(detail.view.evolution_id.clone()).await?;
    Ok(Shown { detail, known })
}

#[component]
fn StylePageView(shown: Shown, #[prop(into)] split: Signal<bool>) -> impl IntoView {
    let Shown { detail, known } = shown;
    let address = EvolutionAddress::of_detail(&detail);
    let (task, model) = (detail.view.task_id.to_string(), detail.model.clone());
    let evolution = evolution_href(&detail.run_id, &task, detail.view.sample);
    let api = format!("/api/v1/evolutions/{}/style", detail.view.evolution_id);
    let layout = Layout {
        split,
        href: Callback::new(move |split: bool| style_href(&address, !split)),
    };
    let body = match known {
        Known::NotMeasured if detail.kind == Kind::Imported => EitherOf3::B(
            view! { <p class="note" data-tone="warn">"It cannot be measured: "{"its code was not imported with its results.".to_owned()}</p> },
        ),
        Known::NotMeasured => EitherOf3::A(view! {
            <p class="note">"It is not measured yet. The server measures evolutions as they end; "<code>"swe-ci rescore --style"</code>" measures earlier ones."</p>
        }),
        Known::CannotBeMeasured(why) => EitherOf3::B(
            view! { <p class="note" data-tone="warn">"It cannot be measured: "{why}</p> },
        ),
        Known::Measured(found) => EitherOf3::C(view! { <Measured found=*found api layout/> }),
    };
    view! {
        <PageTop
            title=format!("Code style of {task} · {model}")
            description=format!("The style tools' results for the code {model} wrote for {task}, compared with the maintainers' code.")
            crumbs=vec![crumb("/runs", "Runs"), crumb(run_href(&detail.run_id), &model), crumb(evolution, &task)]
            heading="Code style"
        >
            <p class="lede">
                {format!("The style tools' results for the code {model} wrote for {task}, compared with the maintainers' code for the same task: the ")}
                <Term word=Word::Oracle text="oracle"/>"."
            </p>
        </PageTop>
        {body}
    }
}

#[component]
fn Measured(found: StyleBeside, api: String, layout: Layout) -> impl IntoView {
    let StyleBeside { style, files, .. } = found;
    let tools = style.tools.clone();
    let erosion = style.clone();
    let last = style.last().map_or(CodeVersion::Base, |last| last.version);
    let own = named(last).to_lowercase();
    let link = api.clone();
    let [of_own, of_oracle] =
        [last, CodeVersion::Oracle].map(|version| format!("{api}/{}", version.name()));
    let own_link = format!("after {own}");
    let same = format!("The source after {own} is the oracle's, file by file.");
    let files = match files.is_empty() {
        true => Either::Left(view! { <p>{same}</p> }),
        false => Either::Right(view! { <Files files more=found.more_files/> }),
    };
    let beyond = StoredValue::new(api);
    let diff = found.diff.filter(|diff| diff.changed() > 0).map(|diff| {
        view! {
            <section aria-labelledby="side-title">
                <h2 id="side-title">"Side by side"</h2>
                <p class="quiet">{format!("The files that lost most: the oracle's first, then as they were after {own}.")}</p>
                <ChangedFiles diff beyond layout/>
            </section>
        }
    });
    view! {
        <section aria-labelledby="versions-title">
            <h2 id="versions-title">"Version by version"</h2>
            <p class="quiet">
                "Beside each number: how it differs from the oracle's. Higher is better for the "
                <Term word=Word::Maintainability text="maintainability index"/>" (MI, 0 to 100) and the "
                <Term word=Word::Pylint text="Pylint score"/>" (0 to 10), lower for complexity. Source are the Python files outside of tests."
            </p>
            <StyleVersions style/>
            <p class="taken"><a href=link>"As JSON"</a></p>
        </section>
        <section aria-labelledby="erosion-title">
            <h2 id="erosion-title">"Erosion"</h2>
            <p class="quiet">
                "Numbers that say how hard the code became to work on: "
                <Term word=Word::Erosion text="erosion"/>
                ". Beside each: how it differs from the oracle's. Lower is better, except for comments, where neither is."
            </p>
            <ErosionVersions style=erosion/>
        </section>
        <section aria-labelledby="files-title">
            <h2 id="files-title">"File by file"</h2>
            <p class="quiet">"Those whose maintainability index lost most against the oracle's come first."</p>
            {files}
            <p class="taken">
                "All files, and the lines that differ from the base in each, as JSON: "
                <a href=of_own>{own_link}</a>", "
                <a href=of_oracle>"the oracle's"</a>"."
            </p>
        </section>
        {diff}
        <p class="footnote">{with(&tools)}</p>
    }
}

fn with(tools: &StyleTools) -> String {
    format!(
        "Measured with Pylint {}, radon {}, complexipy {}, Vulture {} and griffe {} on Python {}, in the image of the task's tests, with the tools' default settings.",
        tools.pylint, tools.radon, tools.complexipy, tools.vulture, tools.griffe, tools.python
    )
}
