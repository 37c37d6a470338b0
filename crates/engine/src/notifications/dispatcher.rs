//! Delivers notifications, and retries them until they arrive.
//!
//! Delivery is at least once: an attempt is recorded after it was made, so an
//! interrupted one is repeated with the same `webhook-id`.

use std::time::Duration;

use anyhow::Context;
use reqwest::{Client, StatusCode, header};
use secrecy::SecretString;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error;
use swe_ci_base::tls::http_client;
use swe_ci_core::permissions::{Keyring, Reach};
use swe_ci_gateway::{client_within, refusal, refused_by_name};
use swe_ci_runner::provider_keys::Keys;
use swe_ci_store::{AfterTry, Due, Store};
use swe_ci_views::notification::{Channel, Occasion};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::mail::{Failure, Mailer, digest_of_code, random_code};
use super::message::{body, mail, signature};
use crate::{Config, after, millis};

const AT_ONCE: usize = 8;
/// How often it looks for due deliveries.
const IDLE: Duration = Duration::from_secs(1);
const ANSWER_TIME_LIMIT: Duration = Duration::from_secs(10);
/// An attempt without a result after this time was lost with its process.
/// Longer than any attempt takes: a mail waits for several answers.
const CLAIM_DURATION: Duration = Duration::from_mins(2);
const MAIL_TIME_LIMIT: Duration = Duration::from_mins(1);
/// How long a stopping process waits for deliveries in flight.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(5);
const MAX_TRIES: u32 = 8;
const CODE_VALIDITY: Duration = Duration::from_hours(24);

/// The pauses between attempts: the first, six times as long each time, and the
/// longest.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub first: Duration,
    pub longest: Duration,
}

impl Pace {
    pub const USUAL: Self = Self {
        first: Duration::from_secs(10),
        longest: Duration::from_hours(6),
    };

    /// The pause after this many attempts; none when the delivery is given up.
    fn pause(self, tries: u32) -> Option<Duration> {
        let factor = 6_u32.saturating_pow(tries.saturating_sub(1));
        let pause = self.first.saturating_mul(factor).min(self.longest);
        (tries < MAX_TRIES).then_some(pause)
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct NotificationDispatcher {
    store: Store,
    keys: Keys,
    /// Reaches any address.
    client: Client,
    /// Reaches only the open internet.
    public_client: Client,
    mailer: Option<Mailer>,
    /// Public address of the site.
    site: Option<String>,
    /// Whether accounts may have receivers in private networks.
    private: bool,
    pace: Pace,
}

impl NotificationDispatcher {
    pub fn new(store: &Store, keys: &Keys, config: &Config, pace: Pace) -> anyhow::Result<Self> {
        let client = |reach| {
            let client = client_within(reach, http_client())
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("swe-ci/", env!("CARGO_PKG_VERSION")))
                .timeout(ANSWER_TIME_LIMIT);
            client.build().context("cannot create an HTTP client")
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

    /// Delivers until `stop`. Deliveries in flight then get a short time to
    /// finish; the others are retried later.
    pub async fn work(&self, stop: &CancellationToken) {
        let mut in_flight = JoinSet::new();
        while !stop.is_cancelled() {
            self.start_due(&mut in_flight).await;
            tokio::select! {
                () = stop.cancelled() => {}
                Some(_) = in_flight.join_next() => {}
                () = tokio::time::sleep(IDLE) => {}
            }
        }
        let rest = async { while in_flight.join_next().await.is_some() {} };
        if tokio::time::timeout(SHUTDOWN_WAIT, rest).await.is_err() {
            tracing::debug!("unfinished deliveries are retried later");
        }
    }

    /// Starts due deliveries, up to the limit of concurrent ones.
    async fn start_due(&self, in_flight: &mut JoinSet<()>) {
        while in_flight.len() < AT_ONCE {
            let due = self.claim().await.unwrap_or_else(|error| {
                tracing::warn!("cannot look for notifications to send: {error:#}");
                None
            });
            let Some(due) = due else { return };
            let dispatcher = self.clone();
            in_flight.spawn(async move { dispatcher.deliver(&due).await });
        }
    }

    pub async fn claim(&self) -> error::Result<Option<Due>> {
        self.store.claim_delivery(millis(CLAIM_DURATION)).await
    }

    /// One attempt, and its consequences.
    pub async fn deliver(&self, due: &Due) {
        let result = match due.channel {
            Channel::Webhook => self.post(due).await,
            Channel::Mail => self.mail(due).await,
        };
        let (answer, then) = match result {
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
            tracing::warn!("the result of a delivery cannot be stored: {error:#}");
        }
    }

    /// Never reads the body of the answer: it stays with the receiver.
    async fn post(&self, due: &Due) -> Result<String, Failure> {
        let anywhere = due.of_admin || self.private;
        let client = match anywhere {
            true => &self.client,
            false => &self.public_client,
        };
        // Addresses given as numbers never pass the resolver's check.
        if let Some(why) = refused_by_name(&due.address).filter(|_| !anywhere) {
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
            tracing::warn!("a webhook cannot be signed: {error:#}");
            Failure::for_now("its signing secret cannot be opened; see the operator’s log")
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
        match tokio::time::timeout(MAIL_TIME_LIMIT, sent).await {
            Ok(sent) => sent,
            Err(_) => Err(Failure::for_now("the mail server takes too long")),
        }
    }

    /// Created for each attempt, so that only the mail holds it.
    async fn new_code(&self, due: &Due) -> Result<String, Failure> {
        let failed = |error: String| {
            tracing::warn!("a code cannot be created: {error}");
            Failure::for_now("no code can be created")
        };
        let code = random_code().map_err(|error| failed(error.to_string()))?;
        let (digest, until) = (digest_of_code(&code), after(CODE_VALIDITY));
        let stored = self.store.set_code(&due.target_id, &digest, until).await;
        stored.map_err(|error| failed(error.to_string()))?;
        Ok(code)
    }
}

fn of_status(status: StatusCode) -> Result<String, Failure> {
    let code = status.as_u16().to_string();
    if status.is_success() {
        Ok(code)
    } else if status.is_redirection() {
        let why = format!("{code}: redirects are not followed");
        Err(Failure::for_now(why))
    } else {
        Err(Failure {
            why: code,
            // The receiver is gone for good.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_six_hours_and_end() {
        let pauses = (1..=8).map(|tries| Pace::USUAL.pause(tries));
        let seconds: Vec<Option<u64>> = pauses.map(|p| p.map(|p| p.as_secs())).collect();
        let expect = [10, 60, 360, 2_160, 12_960, 21_600, 21_600];
        let expect: Vec<Option<u64>> = expect.into_iter().map(Some).chain([None]).collect();
        assert_eq!(seconds, expect);
        assert_eq!(Pace::USUAL.pause(u32::MAX), None);
    }
}
