//! Slow and silent providers, and the clock of the agent.

use super::*;

/// It may have a queue that is longer than the patience.
#[tokio::test]
async fn a_slow_provider_is_waited_for() {
    let fixture = Fixture::new().await;
    for (patience, streamed) in [(0, true), (0, false), (1, true), (1, false)] {
        let fixture = fixture.beside().await;
        let late = Fault::Slow(Duration::from_millis(1_500));
        fixture
            .llm
            .fault_when(move |seen| seen.turn.is_some().then_some(late));
        let mut config = fixture.config(Protocol::Chat);
        config.patience = Duration::from_secs(patience);
        let session = fixture.gateway.open(None, config).unwrap();
        let (status, answer) = ask(&session, Protocol::Chat, streamed).await;
        assert_eq!(status, 200, "{answer}");
        let account = session.close().await;
        assert_eq!(account.trouble, None);
        assert!(exchanges(&account)[0].complete, "{account:?}");
    }
}

/// Otherwise an agent could hold its step for ever: by one request, or by more than the
/// provider lets in at once.
#[tokio::test]
async fn the_clock_runs_while_requests_are_unanswered() {
    for requests in [1, 6] {
        let fixture = Fixture::with(RetryPolicy {
            longest_silence: Duration::from_mins(1),
            ..Fixture::POLICY
        });
        let fixture = fixture.await;
        fixture
            .llm
            .fault_when(|seen| seen.turn.is_some().then_some(Fault::Stall));
        let mut config = fixture.config(Protocol::Chat);
        config.patience = Duration::from_secs(1);
        let session = fixture.gateway.open(None, config).unwrap();
        let clock = session.off_clock();
        let asked = (0..requests).map(|_| ask(&session, Protocol::Chat, true));
        tokio::select! {
            () = clock.spent(Duration::from_secs(2)) => {}
            _ = join_all(asked) => panic!("they were answered"),
            () = tokio::time::sleep(Duration::from_secs(20)) => panic!("the clock stands"),
        }
        let unanswered = session.unanswered().await.unwrap();
        assert!(unanswered.is_some());
    }
}

/// A whole answer tells nothing of it before; a model may think for long before each
/// first word.
#[tokio::test]
async fn a_slow_model_is_no_queue() {
    let fixture = Fixture::new().await;
    fixture.llm.fault_when(|seen| match seen.turn {
        Some(_) => Some(Fault::Stall),
        None => Some(Fault::Slow(Duration::from_millis(700))),
    });
    for is_known in [false, true] {
        let session = fixture.session(Protocol::Chat);
        let asked = ask(&session, Protocol::Chat, false);
        let asked = tokio::time::timeout(Duration::from_millis(200), asked).await;
        assert!(asked.is_err());
        assert_eq!(session.unanswered().await.is_ok(), is_known);
    }
}
