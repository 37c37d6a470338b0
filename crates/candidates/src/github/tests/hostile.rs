//! Tests untrustworthy and invalid responses.

use super::super::request::MAX_BYTES;
use super::*;

#[tokio::test]
async fn the_token_goes_to_the_endpoint_alone() {
    let elsewhere = Server::with(600..650).await;
    let server = Server::with(600..650).await;
    assert_eq!(server.search(&search()).await.unwrap().hits.len(), 50);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(server.requests()[0].authorization.as_ref(), Some(&bearer));
    let there = format!("{}/search/repositories", elsewhere.url);
    server.always(302, &[("location", &there)], "");
    let error = server.search(&search()).await.unwrap_err();
    assert!(matches!(error, GitHubError::Redirect { .. }), "{error:?}");
    assert!(!error.to_string().contains(TOKEN), "{error}");
    assert!(elsewhere.requests().is_empty());
    let debug = format!("{:?}", server.github());
    assert!(!debug.contains(TOKEN), "{debug}");
}

#[tokio::test]
async fn redirects_stay_and_end() {
    let server = Server::with(600..650).await;
    server.always(301, &[("location", "/again")], "");
    let error = server.search(&search()).await.unwrap_err();
    assert!(matches!(error, GitHubError::Redirect { .. }), "{error:?}");
    assert!(server.requests().len() <= 5, "{}", server.requests().len());
}

#[tokio::test]
async fn invalid_responses() {
    let check = async |body: &str, expect: &str| {
        let server = Server::with([]).await;
        server.always(200, &[], body);
        let error = server.search(&search()).await.unwrap_err();
        assert!(matches!(error, GitHubError::Malformed { .. }), "{error:?}");
        let error = error.to_string();
        let names = error.contains("page 1 of the search `language:Python");
        assert!(names && error.contains(expect), "{expect} → {error}");
        assert!(error.len() < 700, "{error}");
    };
    check("<html>", "expected value").await;
    check("", "EOF").await;
    check("[]", "is invalid").await;
    check("{}", "missing field `total_count`").await;
    let page = |total: &str, items: &str| {
        format!(r#"{{"total_count":{total},"incomplete_results":false,"items":[{items}]}}"#)
    };
    check(&page("-1", ""), "invalid value").await;
    check(&page("1e99", ""), "expected u64").await;
    check(&page("1", &vec!["{}"; 101].join(",")), "101 entries").await;
    check(&" ".repeat(MAX_BYTES + 1), "larger than").await;
    check(&"[".repeat(10_000), "is invalid").await;
}

#[tokio::test]
async fn endless_counts_are_an_error() {
    let server = Server::with([]).await;
    let body = r#"{"total_count":18446744073709551615,"incomplete_results":false,"items":[]}"#;
    server.always(200, &[], body);
    let error = server.search(&search()).await.unwrap_err().to_string();
    assert!(error.contains("2000 ranges"), "{error}");
}

#[tokio::test]
async fn untrustworthy_repositories_are_skipped_and_reported() {
    let server = Server::with_site(|host| {
        let wrong = [
            ("full_name", json!("o/..")),
            ("full_name", json!("a/b/c")),
            ("clone_url", json!("https://evil.example/o/n00002.git")),
            ("clone_url", json!(format!("http://{host}/o/n00003.git"))),
            ("default_branch", json!("--upload-pack=x")),
            ("stargazers_count", json!(7)),
            ("license", json!({"key": "gpl-3.0"})),
            ("license", Value::Null),
            ("archived", json!(true)),
            ("fork", json!(true)),
            ("private", json!(true)),
            ("created_at", json!("2025-06-01T00:00:00Z")),
            ("pushed_at", json!("2020-06-01T00:00:00Z")),
            ("pushed_at", Value::Null),
        ];
        let wrong = (0..).zip(wrong).map(|(number, (field, value))| {
            let mut repository = repository(host, number, 600);
            repository[field] = value;
            repository
        });
        Site {
            repositories: wrong.chain([repository(host, 99, 600)]).collect(),
            ..Site::default()
        }
    })
    .await;
    // The server's search would omit some itself.
    let garbage = [json!({}), json!(7), json!("x")];
    let items: Vec<_> = server.site.repositories.iter().chain(&garbage).collect();
    let page = json!({"total_count": 18, "incomplete_results": false, "items": items});
    server.always(200, &[], &page.to_string());
    let found = server.search(&search()).await.unwrap();
    assert_eq!(found.hits.len(), 1, "{:?}", found.hits);
    assert_eq!(found.hits[0].full_name, "o/n00099");
    let why = |name: &str| {
        let skipped = found.skipped.iter().find(|skipped| skipped.name == name);
        skipped.unwrap_or_else(|| panic!("{name}")).why.as_str()
    };
    let check = |name: &str, expect: &str| assert!(why(name).contains(expect), "{}", why(name));
    check("o/..", "owner/name");
    check("a/b/c", "owner/name");
    check("o/n00002", "`https://evil.example/");
    check("o/n00003", "`http://");
    check("o/n00004", "default branch");
    check("o/n00005", "7 stars, more than 500");
    check("o/n00006", "gpl-3.0, not mit");
    check("o/n00007", "none, not mit");
    check("o/n00008", "archived");
    check("o/n00009", "fork");
    check("o/n00010", "private");
    check("o/n00011", "created on 2025-06-01");
    check("o/n00012", "push was on 2020");
    check("o/n00013", "incomplete");
    check("a repository without a name", "incomplete");
}

#[test]
fn endpoints_and_tokens() {
    let check = |endpoint: &str, token: &str, expect: Result<&str, &str>| {
        let github = GitHub::new(endpoint, Some(SecretString::from(token)), None);
        let web = github.map(|github| github.inner.web.clone());
        let web = web.map_err(|error| format!("{error:#}"));
        match (&web, expect) {
            (Ok(web), Ok(expect)) => assert_eq!(web, expect),
            (Err(problem), Err(expect)) => {
                assert!(problem.contains(expect), "{endpoint}: {problem}");
                assert!(!problem.contains("secret"), "{problem}");
            }
            _ => panic!("{endpoint} → {web:?}"),
        }
    };
    check(
        super::super::DEFAULT_ENDPOINT,
        TOKEN,
        Ok("https://github.com"),
    );
    check("https://git.example/api/v3/", "", Ok("https://git.example"));
    check("https://api.x.ghe.com", "", Ok("https://x.ghe.com"));
    check("http://127.0.0.1:7", "", Ok("https://127.0.0.1:7"));
    check("api.github.com", "", Err("is not one"));
    check("ftp://h", "", Err("of the form"));
    check("https://h/?q", "", Err("of the form"));
    check("https://u:secret@h", "", Err("must not hold a user"));
    check("https://h", "secret\n", Err("the token alone"));
    let github = GitHub::new("https://h/api/v3", None, None).unwrap();
    assert_eq!(
        github.address(["a", "b/c"]).as_str(),
        "https://h/api/v3/a/b%2Fc"
    );
    let certificates = GitHub::new("https://h", None, Some(b"-----BEGIN CERTIFICATE-----\nx"));
    assert!(certificates.unwrap_err().to_string().contains("PEM"));
}
