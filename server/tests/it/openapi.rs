//! The API's description is part of its contract: a change must be deliberate.

use crate::fixture::TestApp;

#[tokio::test]
async fn the_description_is_pinned() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    insta::with_settings!({
        description => "run `INSTA_UPDATE=always cargo test -p swe-ci` to update, and look at the difference",
        omit_expression => true,
    }, {
        insta::assert_json_snapshot!(document);
    });
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let text = document.to_string();
    let references = text.split("\"$ref\":\"#").skip(1);
    let pointers: Vec<&str> = references
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(pointers.len() > 20);
    for pointer in pointers {
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}
