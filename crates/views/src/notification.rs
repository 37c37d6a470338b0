//! Notifications of an account about its runs: events, targets and
//! deliveries.

use serde::{Deserialize, Serialize};
use swe_ci_core::run::Progress;

pub const MOST_WEBHOOKS: usize = 10;
pub const LONGEST_URL: usize = 2_000;

swe_ci_core::named! {
    /// The event that a message reports.
    pub enum Occasion {
        /// A run finished or was cancelled.
        RunFinished = "run.finished",
        /// The first evolution of a run is blocked; it can be retried.
        RunBlocked = "run.blocked",
        /// A run has spent its budget; no further step of it starts.
        RunBudget = "run.budget",
        /// A user tests whether messages arrive.
        Test = "test",
        /// A code that proves the ownership of a mailbox.
        Code = "code",
    }
}

impl Occasion {
    /// The events an account may subscribe to; the others need a request each.
    pub const OF_RUNS: [Self; 3] = [Self::RunFinished, Self::RunBlocked, Self::RunBudget];
}

swe_ci_core::named! {
    /// A kind of delivery.
    pub enum Channel {
        /// A signed POST.
        Webhook = "webhook",
        Mail = "mail",
    }
}

swe_ci_core::named! {
    /// The state of a message to a target.
    pub enum DeliveryState {
        /// Delivery and retries are pending.
        Waiting = "waiting",
        Delivered = "delivered",
        /// The retries are exhausted.
        GivenUp = "given_up",
    }
}

/// The server sends this to a webhook, by POST. Fields may be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct WebhookMessage {
    #[serde(rename = "type")]
    pub occasion: Occasion,
    /// When it happened, RFC 3339; the same in every try.
    pub timestamp: String,
    pub data: WebhookData,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum WebhookData {
    Run {
        #[serde(flatten)]
        news: News,
        /// The run's page; absent if the site does not know its own address.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    Test {
        message: String,
    },
}

/// The state of a run at the time of an event: the `data` of a message. If an
/// evolution caused the event, `evolution_id`, `task_id` and `reason` tell which and
/// why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct News {
    pub run_id: String,
    /// The submitter's name of the model: any line of text.
    pub model: String,
    pub split: String,
    pub progress: Progress,
    pub evolutions: u32,
    /// Number of evolutions that wait for a user to retry them.
    pub evolutions_blocked: u32,
    /// Number of evolutions that the budget stopped.
    pub evolutions_out_of_budget: u32,
    /// The evolution that caused the event, if there is one.
    // As a schema it would be either these fields or `null`, never nothing.
    #[schema(ignore)]
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

/// The evolution that blocked a run, or spent its budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub evolution_id: String,
    pub task_id: String,
    /// In words; empty if unknown.
    pub reason: String,
}

/// A target of an account's notifications, with its events. Times are
/// RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TargetView {
    pub target_id: String,
    pub channel: Channel,
    /// A URL or an e-mail address.
    pub address: String,
    pub events: Vec<Occasion>,
    /// Whether it gets messages: a mailbox only after the user entered its
    /// code.
    pub confirmed: bool,
    pub created_at: String,
}

/// A message to a target, and the result of its delivery. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryView {
    /// The `webhook-id` of a webhook.
    pub delivery_id: String,
    pub target_id: String,
    /// The target's address.
    pub address: String,
    pub event: Occasion,
    /// The run it reports, if there is one.
    pub run_id: Option<String>,
    pub state: DeliveryState,
    pub tries: u32,
    pub made_at: String,
    pub tried_at: Option<String>,
    /// The result of the last attempt: a status, or the reason for its
    /// absence.
    pub answer: String,
    /// Present while it waits.
    pub next_try_at: Option<String>,
}

/// The notification targets of an account, and its last deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Notifications {
    pub targets: Vec<TargetView>,
    /// The newest 50, newest first.
    pub deliveries: Vec<DeliveryView>,
    /// Whether this installation sends mails.
    pub sends_mail: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_messages_and_round_trip() {
        for event in Occasion::ALL {
            let json = serde_json::to_value(event).unwrap();
            assert_eq!(json, event.name());
            assert_eq!(Occasion::from_name(event.name()), Some(event));
        }
        assert_eq!(Occasion::from_name("run.started"), None);
    }

    #[test]
    fn a_cause_is_flattened() {
        let mut news = News {
            run_id: "r".into(),
            model: "m".into(),
            split: "s".into(),
            progress: Progress::Running,
            evolutions: 2,
            evolutions_blocked: 1,
            evolutions_out_of_budget: 0,
            cause: None,
        };
        let json = serde_json::to_value(&news).unwrap();
        assert!(json.get("cause").is_none() && json.get("task_id").is_none());
        assert_eq!(serde_json::from_value::<News>(json).unwrap(), news);
        news.cause = Some(Cause {
            evolution_id: "e".into(),
            task_id: "t".into(),
            reason: String::new(),
        });
        let json = serde_json::to_value(&news).unwrap();
        assert_eq!(json["task_id"], "t");
        assert_eq!(serde_json::from_value::<News>(json).unwrap(), news);
    }
}
