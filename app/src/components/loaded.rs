use leptos::either::Either;
use leptos::prelude::*;

use super::Problem;
use crate::fetched::Fetched;

/// The data of a resource, or its error. Old data stays while new data loads.
pub fn loaded<T, V>(
    resource: Fetched<T>,
    show: impl Fn(T) -> V + Clone + Send + Sync + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let shown = move || {
        let show = show.clone();
        Suspend::new(async move {
            match resource.await {
                Ok(data) => Either::Left(show(data)),
                Err(error) => Either::Right(view! { <Problem error page=true/> }),
            }
        })
    };
    view! {
        <Transition fallback=|| view! { <p class="waiting" role="status">"Loading…"</p> }>
            {shown}
        </Transition>
    }
}
