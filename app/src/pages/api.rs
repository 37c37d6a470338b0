//! The API: its operations by area, each with an example.

use std::sync::Arc;

use leptos::prelude::*;

use crate::components::{CollectAny, PageTop, Tag};
use crate::context::PublicUrl;
use crate::format;

/// Operations of the API about one thing. Pages find all as `Arc<[ApiArea]>` in
/// their context.
#[derive(Debug, Clone)]
pub struct ApiArea {
    pub name: String,
    pub about: String,
    pub operations: Vec<ApiOperation>,
}

#[derive(Debug, Clone)]
pub struct ApiOperation {
    pub method: &'static str,
    /// With its placeholders: `/api/v1/runs/{id}`.
    pub path: String,
    pub about: String,
    pub parameters: Vec<ApiParameter>,
    pub has_body: bool,
    pub needs_token: bool,
}

#[derive(Debug, Clone)]
pub struct ApiParameter {
    pub name: String,
    pub about: String,
    pub is_required: bool,
}

#[component]
pub fn ApiPage() -> impl IntoView {
    let areas = use_context::<Arc<[ApiArea]>>().unwrap_or_else(|| Vec::new().into());
    let site = use_context::<Option<PublicUrl>>().flatten();
    let site = site.map_or("https://bench.example.org".to_owned(), |url| url.at(""));
    let link = |area: &ApiArea| {
        let count = format::count(area.operations.len(), "operation");
        view! { <li><a href=format!("#{}", area.name)>{format::capital(&area.name)}</a>" "<span class="quiet">{count}</span></li> }
    };
    let links = areas.iter().map(link).collect_any();
    let areas = areas.iter().map(|area| {
        let operations = area.operations.iter();
        let operations = operations.map(|operation| operation_item(operation, &site));
        view! {
            <section aria-labelledby=area.name.clone()>
                <h2 id=area.name.clone()>{format::capital(&area.name)}</h2>
                <p class="quiet">{area.about.clone()}"."</p>
                <ul class="operations">{operations.collect_any()}</ul>
            </section>
        }
    });
    view! {
        <PageTop
            title="API"
            description="The REST API of this site: its operations by area, with their parameters and examples."
            lede="Every number of this site is in the API, and so is what its forms do."
        />
        <p>
            "Answers are JSON, or CSV where an address ends so. Lists come in pages: "<code>"next"</code>" of one is "<code>"after"</code>" of the following. Public data takes no account; for the rest, create a token on "<a href="/account">"your account’s page"</a>" and send it as in the examples. Errors are problem documents (RFC 9457). Programs find all of this, with the types of bodies and answers, in the "<a href="/api/v1/openapi.json">"OpenAPI description"</a>"."
        </p>
        <nav aria-label="Areas"><ul class="names">{links}</ul></nav>
        {areas.collect_any()}
    }
}

fn operation_item(operation: &ApiOperation, site: &str) -> impl IntoView + use<> {
    let token = operation
        .needs_token
        .then(|| view! { <Tag text="token".to_owned()/> });
    let (first, rest) = match operation.about.split_once(". ") {
        Some((first, rest)) => (format!("{first}."), rest.to_owned()),
        None => (operation.about.clone(), String::new()),
    };
    let rest = (!rest.is_empty()).then(|| view! { <p>{rest}</p> });
    let parameters = operation.parameters.iter().map(|parameter| {
        let required = parameter.is_required.then_some(" (required)");
        let about = parameter.about.clone();
        view! { <div><dt><code>{parameter.name.clone()}</code>{required}</dt><dd>{about}</dd></div> }
    });
    let parameters = (!operation.parameters.is_empty())
        .then(|| view! { <dl class="record">{parameters.collect_any()}</dl> });
    view! {
        <li>
            <details>
                <summary>
                    <strong>{operation.method}</strong>" "<code>{operation.path.clone()}</code>" "{token}
                    <span class="quiet">{first}</span>
                </summary>
                {rest}
                {parameters}
                <pre class="log" tabindex="0" role="region" aria-label="Example">{example(operation, site)}</pre>
            </details>
        </li>
    }
}

/// A call of curl, with a variable for each placeholder.
fn example(operation: &ApiOperation, site: &str) -> String {
    let mut call = "curl".to_owned();
    if operation.method != "GET" {
        call += &format!(" -X {}", operation.method);
    }
    if operation.needs_token {
        call += " -H \"Authorization: Bearer $SWE_CI_TOKEN\"";
    }
    if operation.has_body {
        call += " \\\n  -H \"Content-Type: application/json\" -d @body.json";
    }
    let mut path = operation.path.clone();
    for parameter in &operation.parameters {
        let variable = format!("${}", parameter.name.to_uppercase());
        path = path.replace(&format!("{{{}}}", parameter.name), &variable);
    }
    format!("{call} \\\n  \"{site}{path}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_can_be_pasted() {
        let mut operation = ApiOperation {
            method: "GET",
            path: "/api/v1/runs/{id}".into(),
            about: String::new(),
            parameters: vec![ApiParameter {
                name: "id".into(),
                about: String::new(),
                is_required: true,
            }],
            has_body: false,
            needs_token: false,
        };
        let site = "https://a.example";
        assert_eq!(
            example(&operation, site),
            "curl \\\n  \"https://a.example/api/v1/runs/$ID\""
        );
        operation.method = "PATCH";
        (operation.has_body, operation.needs_token) = (true, true);
        let text = example(&operation, site);
        assert!(text.starts_with("curl -X PATCH -H \"Authorization: Bearer $SWE_CI_TOKEN\" \\\n"));
        assert!(text.contains("-d @body.json"));
    }
}
