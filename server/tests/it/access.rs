//! The permissions of every address: a change must be deliberate.

use axum::body::Body;
use axum::http::Request;
use swe_ci_views::account::AccountRole;

use crate::fixture::{HUMAN, TestApp};
use crate::people::{account, bearer};

/// It also checks Docker, which is not available everywhere.
const READY: &str = "/health/ready";

/// Addresses for people without an account, and to sign out.
const OPEN_FORMS: [&str; 4] = [
    "/sign-in",
    "/sign-in/{provider}",
    "/sign-out",
    "/invitation/{secret}",
];

/// The callback of a provider, which no listing contains either.
const BACK: &str = "/sign-in/{provider}/callback";

/// Forms of pages, which no listing contains.
const FORMS: [&str; 16] = [
    "/sign-in",
    "/sign-in/{provider}",
    "/sign-out",
    "/invitation/{secret}",
    "/account",
    "/accounts",
    "/keys",
    "/notifications",
    "/runs/new",
    "/datasets/import",
    "/datasets/new",
    "/datasets/curations/{id}",
    "/datasets/{split}",
    "/disk",
    "/snapshots",
    "/submissions",
];

#[tokio::test]
async fn the_matrix_is_pinned() {
    let app = TestApp::seeded().await;
    let routes = routes(&app).await;
    let mut who = vec![None];
    for role in AccountRole::ALL {
        let actor = account(&app, role.name(), role).await;
        who.push(Some(bearer(&app, &actor, role).await));
    }
    let mut columns = Vec::new();
    for bearer in &who {
        let mut statuses = Vec::new();
        for (method, path) in &routes {
            statuses.push(status(&app, method, path, bearer.as_deref()).await);
        }
        columns.push(statuses);
    }
    let mut matrix = String::from("visitor reader submitter admin\n");
    for (at, (method, path)) in routes.iter().enumerate() {
        let row: Vec<String> = columns.iter().map(|c| c[at].to_string()).collect();
        matrix.push_str(&format!("{} {method} {path}\n", row.join(" ")));
        if method != "GET" && !OPEN_FORMS.contains(&path.as_str()) {
            assert!(
                [401, 403].contains(&columns[0][at]),
                "a visitor may {method} {path}"
            );
        }
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(matrix);
    });
}

/// Data that only its owner sees must be complete for the owner, and must not
/// exist for others, at every address.
#[tokio::test]
async fn hidden_runs_exist_for_their_owner_alone() {
    let app = TestApp::seeded().await;
    let of_runs = |path: &str| path.contains("runs/{id}") || path.contains("evolutions/{id}");
    let mut routes = routes(&app).await;
    routes.retain(|(_, path)| of_runs(path));
    let reads = |method: &str| method == "GET";
    assert!(routes.iter().filter(|(method, _)| reads(method)).count() > 15);

    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let bob = account(&app, "bob", AccountRole::Submitter).await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let owner = &ada.identity().unwrap().account_id;
    app.execute(&format!("UPDATE runs SET owner = '{owner}'"))
        .await;
    let ada = bearer(&app, &ada, AccountRole::Reader).await;
    let bob = bearer(&app, &bob, AccountRole::Submitter).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let mut public = Vec::new();
    for (method, path) in &routes {
        public.push(status(&app, method, path, Some(&ada)).await);
    }

    for hidden in [
        "visibility = 'private'",
        "visibility = 'withdrawn', withdrawn = 'a mistake'",
        // Never published, and not even begun.
        "visibility = 'private', withdrawn = '', started_at = NULL",
    ] {
        app.execute(&format!("UPDATE runs SET {hidden}")).await;
        for ((method, path), public) in routes.iter().zip(&public) {
            let status = async |who| status(&app, method, path, who).await;
            for stranger in [None, Some(bob.as_str())] {
                let found = status(stranger).await;
                assert!(found >= 400, "{found} {method} {path}, {hidden}");
            }
            if reads(method) {
                let found = [status(Some(&ada)).await, status(Some(&root)).await];
                assert_eq!(found, [*public; 2], "{method} {path}, {hidden}");
            }
        }
    }
}

/// Every operation of the API, every page, every form.
async fn routes(app: &TestApp) -> Vec<(String, String)> {
    let document = app.get("/api/v1/openapi.json").await.json();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            routes.push((method.to_uppercase(), path.clone()));
        }
    }
    let pages = swe_ci::pages::paths().map(|path| ("GET".into(), path.into()));
    routes.extend(pages);
    routes.push(("GET".into(), BACK.into()));
    routes.extend(FORMS.map(|path| ("POST".into(), path.into())));
    routes.retain(|(_, path)| path != READY);
    routes.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    routes
}

/// Without the body: a stream's never ends.
async fn status(app: &TestApp, method: &str, path: &str, bearer: Option<&str>) -> u16 {
    let mut request = Request::builder().method(method).uri(filled(path));
    if let Some(bearer) = bearer {
        request = request.header("authorization", bearer);
    }
    let (media_type, body) = match path.starts_with("/api/") {
        true => ("application/json", "{}"),
        false => ("application/x-www-form-urlencoded", ""),
    };
    let request = request.header("content-type", media_type);
    app.send(request.body(Body::from(body)).unwrap())
        .await
        .status()
        .as_u16()
}

/// With a value for each placeholder, an existing one where possible.
pub fn filled(path: &str) -> String {
    let of = |part: &str, before: &str| match (part, before) {
        ("{id}", "runs") => HUMAN.to_owned(),
        ("{id}", "evolutions") | ("{evolution}", _) => "e-model-alpha".to_owned(),
        ("{id}", "tasks") | ("{task}", _) => "alpha-1".to_owned(),
        ("{split}", _) => "demo".to_owned(),
        ("{role}", _) => "programmer".to_owned(),
        ("{n}" | "{iteration}" | "{attempt}", _) => "1".to_owned(),
        _ if part.starts_with('{') => "none".to_owned(),
        _ => part.to_owned(),
    };
    let mut before = "";
    let mut parts = Vec::new();
    for part in path.split('/') {
        parts.push(of(part, before));
        before = part;
    }
    parts.join("/")
}
