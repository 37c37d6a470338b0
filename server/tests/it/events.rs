//! The stream of a run's events.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures::StreamExt;

use crate::fixture::{HUMAN, MODEL, TestApp};
use crate::openapi::has_form;

fn request(last_event_id: Option<&str>) -> Request<Body> {
    let mut request = Request::builder().uri(format!("/api/v1/runs/{MODEL}/events"));
    if let Some(id) = last_event_id {
        request = request.header("last-event-id", id);
    }
    // A browser requests compression even here.
    request
        .header("accept-encoding", "gzip, br")
        .body(Body::empty())
        .unwrap()
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let app = TestApp::seeded().await;
    let response = app.send(request(Some("3"))).await;
    assert_eq!(response.status(), 200);
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .map(|v| v.to_str().unwrap().to_owned())
    };
    assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
    assert_eq!(header("cache-control").as_deref(), Some("no-cache"));
    assert_eq!(header("content-encoding"), None);
    let mut body = response.into_body().into_data_stream();
    let quiet = tokio::time::timeout(Duration::from_millis(100), body.next()).await;
    assert!(quiet.is_err(), "nothing happens in the run");
    app.shutdown.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(30), body.next()).await;
    assert!(ended.expect("the stream ends").is_none());
}

#[tokio::test]
async fn a_stream_ends_with_its_run() {
    let app = TestApp::seeded().await;
    let response = app.send(request(Some("0"))).await;
    let mut body = response.into_body().into_data_stream();
    app.engine.cancel(MODEL).await.unwrap();
    let last = body.next().await.expect("an event").unwrap();
    let last = String::from_utf8(last.to_vec()).unwrap();
    assert!(last.contains("\"progress\":\"cancelled\""), "{last}");
    let ended = tokio::time::timeout(Duration::from_secs(30), body.next()).await;
    assert!(ended.expect("the stream ends").is_none());
    // A browser reconnects, and then no more.
    let id = last.lines().find_map(|line| line.strip_prefix("id: "));
    assert_eq!(app.send(request(id)).await.status(), 204);
    let path = format!("/api/v1/runs/{HUMAN}/events");
    assert_eq!(app.get(&path).await.status, 204);
    // A client that missed the end gets it.
    let missed = app.send(request(Some("0"))).await;
    let missed = axum::body::to_bytes(missed.into_body(), 10_000).await;
    assert!(String::from_utf8_lossy(&missed.unwrap()).contains("cancelled"));
}

/// Late and slow readers get the same events; each is serialised once.
#[tokio::test]
async fn a_thousand_readers_get_every_event() {
    let app = TestApp::seeded().await;
    let mut readers = Vec::new();
    for _ in 0..1_000 {
        let response = app.send(request(Some("0"))).await;
        readers.push(response.into_body().into_data_stream());
    }
    // So long that all look for the end of the run, which nobody reads on to: they
    // must hold no connection of the database meanwhile.
    tokio::time::sleep(Duration::from_secs(6)).await;
    app.engine.pause(MODEL).await.unwrap();
    app.engine.resume(MODEL).await.unwrap();
    let mut received: Vec<Vec<String>> = Vec::new();
    for reader in &mut readers {
        let mut events = Vec::new();
        for _ in 0..2 {
            let event = reader.next().await.expect("the stream goes on").unwrap();
            events.push(String::from_utf8(event.to_vec()).unwrap());
        }
        received.push(events);
    }
    assert!(received[0][0].contains("\"paused\":true"), "{received:?}");
    assert!(received[0][1].contains("\"paused\":false"), "{received:?}");
    assert!(received.iter().all(|events| *events == received[0]));
    let document = app.get("/api/v1/openapi.json").await.json();
    let schema = &document["paths"]["/api/v1/runs/{id}/events"]["get"]["responses"]["200"]["content"]
        ["text/event-stream"]["schema"];
    let data = received[0][0]
        .lines()
        .find_map(|line| line.strip_prefix("data: "));
    has_form(
        &serde_json::from_str(data.unwrap()).unwrap(),
        schema,
        &document,
    );
    // A client that lost the connection after the first event gets the second.
    let id = received[0][0]
        .lines()
        .find_map(|line| line.strip_prefix("id: "));
    let response = app.send(request(id)).await;
    let mut late = response.into_body().into_data_stream();
    let missed = late.next().await.unwrap().unwrap();
    assert_eq!(String::from_utf8(missed.to_vec()).unwrap(), received[0][1]);
}

#[tokio::test]
async fn a_bad_last_event_id_is_refused() {
    let app = TestApp::seeded().await;
    for id in ["x", "-1", "1.5"] {
        let path = format!("/api/v1/runs/{MODEL}/events");
        let answer = app.ask("GET", &path, &[("last-event-id", id)]).await;
        let problem = answer.problem(400, "bad-parameter");
        assert_eq!(problem["parameter"], "Last-Event-ID");
    }
}
