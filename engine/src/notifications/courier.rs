//! Takes what is to be said to where it is to be said, again and again while
//! it does not arrive.
//!
//! Told at least once: a try is written down after it was made, so that one
//! that was cut off in between is made again, with the same `webhook-id`.

use std::time::Duration;

use anyhow::Context;
use reqwest::{Client, StatusCode, header};
use secrecy::SecretString;
use swe_ci_core::notification::{Channel, Occasion};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::mail::{Mailer, digest_of_code, random_code};
use super::message::{body, mail, signature};
use crate::Config;
use crate::clock::now_ms;
use crate::error;
use crate::gateway::{client_within, refusal, refused_by_name};
use crate::grant::{Keyring, Reach};
use crate::keys::Keys;
use crate::store::{AfterTry, Due, Store};

/// Tries at the same time.
const AT_ONCE: usize = 8;
/// How often it looks for something to do.
const IDLE: Duration = Duration::from_secs(1);
/// How long a receiver may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// After this long without a result, a try is taken for lost with its process.
/// Longer than any takes: a mail has several answers to wait for.
const HOLD: Duration = Duration::from_mins(2);
/// The longest a mail may take.
const PATIENCE_WITH_MAIL: Duration = Duration::from_mins(1);
/// How long tries under way are waited for at the end.
const FAREWELL: Duration = Duration::from_secs(5);
/// After so many it is given up.
const MOST_TRIES: u32 = 8;
/// How long a code is good for.
const CODE_HOLDS: Duration = Duration::from_hours(24);

/// The pauses between tries: the first, six times as long each time, and the
/// longest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(10),
            longest: Duration::from_hours(6),
        }
    }
}

impl Pace {
    /// After so many tries; none when it is given up.
    fn pause(self, tries: u32) -> Option<Duration> {
        let factor = 6_u32.saturating_pow(tries.saturating_sub(1));
        let pause = self.first.saturating_mul(factor).min(self.longest);
        (tries < MOST_TRIES).then_some(pause)
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Courier {
    store: Store,
    keys: Keys,
    /// Asks whatever it is told to.
    client: Client,
    /// Asks the open internet alone.
    public_client: Client,
    mailer: Option<Mailer>,
    /// Where readers reach the site.
    site: Option<String>,
    /// Whether accounts may have receivers in private networks.
    private: bool,
    pace: Pace,
}

/// Why something did not arrive.
struct Failure {
    why: String,
    for_good: bool,
}

impl Courier {
    pub fn new(store: &Store, keys: &Keys, config: &Config) -> anyhow::Result<Self> {
        Self::with_pace(store, keys, config, Pace::default())
    }

    pub(super) fn with_pace(
        store: &Store,
        keys: &Keys,
        config: &Config,
        pace: Pace,
    ) -> anyhow::Result<Self> {
        let client = |reach| {
            let client = client_within(reach, Client::builder())
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("swe-ci/", env!("CARGO_PKG_VERSION")))
                .timeout(PATIENCE);
            client.build().context("cannot make an HTTP client")
        };
        Ok(Self {
            store: store.clone(),
            keys: keys.clone(),
            client: client(Reach::Anywhere)?,
            public_client: client(Reach::Public)?,
            mailer: config.mailer.clone(),
            site: config.public_url.clone(),
            private: config.private_endpoints,
            pace,
        })
    }

    /// Delivers until `stop`. What is under way then may arrive; what does not
    /// in time is tried again later.
    pub async fn work(&self, stop: &CancellationToken) {
        let mut under_way = JoinSet::new();
        while !stop.is_cancelled() {
            self.begin_all_due(&mut under_way).await;
            tokio::select! {
                () = stop.cancelled() => {}
                Some(_) = under_way.join_next() => {}
                () = tokio::time::sleep(IDLE) => {}
            }
        }
        let rest = async { while under_way.join_next().await.is_some() {} };
        if tokio::time::timeout(FAREWELL, rest).await.is_err() {
            tracing::debug!("notifications under way are tried again later");
        }
    }

    /// As many as may be under way at the same time.
    async fn begin_all_due(&self, under_way: &mut JoinSet<()>) {
        while under_way.len() < AT_ONCE {
            match self.claim().await {
                Ok(Some(due)) => {
                    let courier = self.clone();
                    under_way.spawn(async move { courier.deliver(&due).await });
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!("cannot look for notifications to send: {error}");
                    return;
                }
            }
        }
    }

    pub(super) async fn claim(&self) -> error::Result<Option<Due>> {
        let hold = i64::try_from(HOLD.as_millis()).unwrap_or(i64::MAX);
        self.store.claim_delivery(hold).await
    }

    /// One try, and what follows from it.
    pub(super) async fn deliver(&self, due: &Due) {
        let came = match due.channel {
            Channel::Webhook => self.post(due).await,
            Channel::Mail => self.mail(due).await,
        };
        let (answer, then) = match came {
            Ok(answer) => (answer, AfterTry::Delivered),
            Err(Failure { why, for_good }) => {
                let pause = self.pace.pause(due.tries).filter(|_| !for_good);
                let then = pause.map_or(AfterTry::GivenUp, |pause| AfterTry::Again(after(pause)));
                tracing::info!(
                    delivery = due.delivery_id,
                    tries = due.tries,
                    "a notification did not arrive: {why}"
                );
                (why, then)
            }
        };
        if let Err(error) = self.store.note_try(&due.delivery_id, &answer, then).await {
            tracing::warn!("what came of a notification cannot be written: {error}");
        }
    }

    /// The answer's body is never read: what an address says stays there.
    async fn post(&self, due: &Due) -> Result<String, Failure> {
        let reach = match due.of_admin || self.private {
            true => Reach::Anywhere,
            false => Reach::Public,
        };
        let client = match reach {
            Reach::Anywhere => &self.client,
            Reach::Public => &self.public_client,
        };
        // Numbers in the place of names are resolved by nobody.
        if let (Reach::Public, Some(why)) = (reach, refused_by_name(&due.address)) {
            return Err(Failure::for_good(why));
        }
        let secret = self.secret_of(due).await?;
        let (body, now) = (body(due, self.site.as_deref()), now_ms() / 1_000);
        let signature = signature(&secret, &due.delivery_id, now, &body);
        let signature = signature.map_err(|error| Failure::for_good(format!("{error:#}")))?;
        let request = client
            .post(&due.address)
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", &due.delivery_id)
            .header("webhook-timestamp", now)
            .header("webhook-signature", signature)
            .body(body);
        match request.send().await {
            Ok(response) => of_status(response.status()),
            Err(error) => Err(of_error(&error)),
        }
    }

    async fn secret_of(&self, due: &Due) -> Result<SecretString, Failure> {
        let secret = self.keys.open(&Keyring::Webhooks, &due.target_id).await;
        secret.map_err(|error| {
            tracing::warn!("a webhook cannot be signed: {error}");
            Failure::for_now(
                "what it is signed with cannot be opened; the operator’s log says more",
            )
        })
    }

    async fn mail(&self, due: &Due) -> Result<String, Failure> {
        let Some(mailer) = &self.mailer else {
            return Err(Failure::for_now("no mails are sent here"));
        };
        let code = match due.event {
            Occasion::Code => self.new_code(due).await?,
            _ => String::new(),
        };
        let (subject, text) = mail(due, self.site.as_deref(), &code);
        let sent = mailer.send(&due.delivery_id, &due.address, &subject, text);
        match tokio::time::timeout(PATIENCE_WITH_MAIL, sent).await {
            Ok(sent) => sent.map_err(|error| Failure {
                why: error.why,
                for_good: error.for_good,
            }),
            Err(_) => Err(Failure::for_now("the mail server takes too long")),
        }
    }

    /// Made for each try, so that it is nowhere but in the mail.
    async fn new_code(&self, due: &Due) -> Result<String, Failure> {
        let failed = |error: String| {
            tracing::warn!("a code cannot be made: {error}");
            Failure::for_now("no code can be made")
        };
        let code = random_code().map_err(|error| failed(error.to_string()))?;
        let (digest, until) = (digest_of_code(&code), after(CODE_HOLDS));
        let kept = self.store.set_code(&due.target_id, &digest, until).await;
        kept.map_err(|error| failed(error.to_string()))?;
        Ok(code)
    }
}

impl Failure {
    fn for_now(why: &str) -> Self {
        Self {
            why: why.to_owned(),
            for_good: false,
        }
    }

    fn for_good(why: String) -> Self {
        Self {
            why,
            for_good: true,
        }
    }
}

fn of_status(status: StatusCode) -> Result<String, Failure> {
    let said = status.as_u16().to_string();
    if status.is_success() {
        Ok(said)
    } else if status.is_redirection() {
        Err(Failure::for_now(&format!(
            "{said}: redirects are not followed"
        )))
    } else {
        Err(Failure {
            why: said,
            // The receiver says that it is gone and does not come back.
            for_good: status == StatusCode::GONE,
        })
    }
}

fn of_error(error: &reqwest::Error) -> Failure {
    match refusal(error) {
        Some(why) => Failure::for_good(why),
        None if error.is_timeout() => Failure::for_now("no answer within 10 s"),
        None if error.is_connect() => Failure::for_now("no connection"),
        None => Failure::for_now("no answer"),
    }
}

/// The moment after so much time, in unix milliseconds.
fn after(time: Duration) -> i64 {
    let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    now_ms().saturating_add(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_six_hours_and_end() {
        let pauses = (1..=8).map(|tries| Pace::default().pause(tries));
        let seconds: Vec<Option<u64>> = pauses.map(|p| p.map(|p| p.as_secs())).collect();
        let expect = [10, 60, 360, 2_160, 12_960, 21_600, 21_600];
        let expect: Vec<Option<u64>> = expect.into_iter().map(Some).chain([None]).collect();
        assert_eq!(seconds, expect);
        assert_eq!(Pace::default().pause(u32::MAX), None);
    }
}
