use leptos::either::Either;
use leptos::prelude::*;
use leptos_meta::{Link, Meta, Title};
use leptos_router::hooks::use_location;

use crate::components::CollectAny;
use crate::context::PublicUrl;
use crate::preview::{canonical, picture};

/// The title and description of a page, for tabs and search engines, and its
/// preview for links on other sites.
#[component]
pub fn PageHead(
    /// Without the site's name.
    #[prop(into)]
    title: String,
    #[prop(into)] description: String,
    /// No preview: the page does not exist, or is not public.
    #[prop(optional)]
    missing: bool,
) -> impl IntoView {
    let (name, sentence) = (title.clone(), description.clone());
    let preview = (!missing).then(move || view! { <Preview title=name description=sentence/> });
    view! {
        <Title text=as_text(format!("{title} · swe-ci"))/>
        <Meta name="description" content=description/>
        {preview}
    }
}

/// The head of a page, the way to it, and its heading and a sentence or two.
#[component]
pub fn PageTop(
    #[prop(into)] title: String,
    #[prop(into)] description: String,
    /// As for [`PageHead`].
    #[prop(optional)]
    missing: bool,
    /// The pages above this one.
    #[prop(optional)]
    crumbs: Vec<Crumb>,
    /// By default the title.
    #[prop(optional, into)]
    heading: Option<String>,
    /// The class of the heading.
    #[prop(optional)]
    class: Option<&'static str>,
    #[prop(optional, into)] lede: Option<String>,
    /// Below the sentences.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let heading = heading.unwrap_or_else(|| title.clone());
    let heading = match class {
        Some(class) => Either::Left(view! { <h1 class=class>{heading}</h1> }),
        None => Either::Right(view! { <h1>{heading}</h1> }),
    };
    let link = |(href, name): Crumb| view! { <a href=href>{name}</a> };
    let crumbs = (!crumbs.is_empty()).then(|| {
        let links = crumbs.into_iter().map(link).collect_any();
        view! { <nav class="crumbs" aria-label="Where this is">{links}</nav> }
    });
    view! {
        <PageHead title description missing/>
        {crumbs}
        <div class="hero">
            {heading}
            {lede.map(|lede| view! { <p class="lede">{lede}</p> })}
            {children.map(|children| children())}
        </div>
    }
}

/// The address and name of a page.
pub type Crumb = (String, String);

pub fn crumb(href: impl Into<String>, name: impl Into<String>) -> Crumb {
    (href.into(), name.into())
}

/// The canonical address, and title, description and picture for previews of
/// links (Open Graph).
///
/// These should be absolute. Without a configured public address there is no
/// `og:url`, which must not be guessed, and the other two are relative to the
/// page's own address.
#[component]
fn Preview(title: String, description: String) -> impl IntoView {
    let location = use_location();
    let public = use_context::<Option<PublicUrl>>().flatten();
    let absolute = {
        let public = public.clone();
        move |path: String| public.as_ref().map_or(path.clone(), |url| url.at(&path))
    };
    let (path, search) = (location.pathname, location.search);
    let here = move || path.with(|path| search.with(|search| canonical(path, search)));
    let image = path.with_untracked(|path| picture(path));
    let mut tags = vec![
        ("og:site_name", "swe-ci".to_owned()),
        ("og:type", "website".to_owned()),
        ("og:image", absolute(image.to_owned())),
        ("og:image:type", "image/png".to_owned()),
        ("og:image:width", "1200".to_owned()),
        ("og:image:height", "630".to_owned()),
        ("og:image:alt", format!("{title}. {description}")),
        ("og:title", title),
        ("og:description", description),
    ];
    tags.extend(public.map(|url| ("og:url", url.at(&untrack(here)))));
    let tags = tags.into_iter();
    view! {
        {move || view! { <Link rel="canonical" href=absolute(here())/> }}
        <Meta name="twitter:card" content="summary_large_image"/>
        {tags.map(|(property, content)| view! { <Meta property content/> }).collect_any()}
    }
}

/// leptos_meta writes a title into the document unescaped, so a name with a tag
/// in it would become markup.
fn as_text(title: String) -> String {
    title.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_title_is_text() {
        let title = super::as_text("a & </title><script>".into());
        assert_eq!(title, "a &amp; &lt;/title>&lt;script>");
    }
}
