//! Notifications: what an account is told of its runs, where, and whether it
//! got there.

use serde::{Deserialize, Serialize};

use crate::run::Progress;

/// The most webhooks of an account.
pub const MOST_WEBHOOKS: usize = 10;
/// The longest address of a webhook, in bytes.
pub const LONGEST_URL: usize = 2_000;

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Occasion {
    /// A run is over, or was cancelled.
    #[serde(rename = "run.finished")]
    RunFinished,
    /// The first evolution of a run is blocked; it can be tried again.
    #[serde(rename = "run.blocked")]
    RunBlocked,
    /// A run's budget is spent, so that nothing of it is begun any more.
    #[serde(rename = "run.budget")]
    RunBudget,
    /// Somebody wants to see whether messages arrive.
    #[serde(rename = "test")]
    Test,
    /// A code that shows whose a mailbox is.
    #[serde(rename = "code")]
    Code,
}

impl Occasion {
    /// Those an account chooses from; the others it asks for one by one.
    pub const OF_RUNS: [Self; 3] = [Self::RunFinished, Self::RunBlocked, Self::RunBudget];

    const ALL: [Self; 5] = [
        Self::RunFinished,
        Self::RunBlocked,
        Self::RunBudget,
        Self::Test,
        Self::Code,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RunFinished => "run.finished",
            Self::RunBlocked => "run.blocked",
            Self::RunBudget => "run.budget",
            Self::Test => "test",
            Self::Code => "code",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|about| about.name() == name)
    }
}

/// A way to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Channel {
    /// A signed POST.
    Webhook,
    Mail,
}

impl Channel {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Mail => "mail",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Webhook, Self::Mail]
            .into_iter()
            .find(|channel| channel.name() == name)
    }
}

/// How a message to a target stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DeliveryState {
    /// It is tried, again if need be.
    Waiting,
    Delivered,
    /// It was tried often enough.
    GivenUp,
}

impl DeliveryState {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::GivenUp => "given_up",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Waiting, Self::Delivered, Self::GivenUp]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// How a run stood when there was something to tell of it: the `data` of a
/// message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    pub run_id: String,
    /// As its submitter calls it: any line of text.
    pub model: String,
    pub split: String,
    pub progress: Progress,
    /// How many there are.
    pub evolutions: u32,
    /// How many of them wait for somebody to have them tried again.
    pub evolutions_blocked: u32,
    /// How many of them the budget stopped.
    pub evolutions_out_of_budget: u32,
    /// The evolution that it is about, where it is about one.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

/// The evolution by which a run was blocked, or had spent its budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub evolution_id: String,
    pub task_id: String,
    /// In words, as far as it is known; empty otherwise.
    pub reason: String,
}

/// Where an account is told, and of what. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetView {
    pub target_id: String,
    pub channel: Channel,
    /// A URL, or an address of e-mail.
    pub address: String,
    pub events: Vec<Occasion>,
    /// Whether anything goes there: to a mailbox only once its code was typed.
    pub confirmed: bool,
    pub created_at: String,
}

/// A message to a target, and what came of it. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryView {
    /// What a webhook is told as `webhook-id`.
    pub delivery_id: String,
    pub target_id: String,
    /// The target's.
    pub address: String,
    pub event: Occasion,
    /// The run it tells of, where it is one.
    pub run_id: Option<String>,
    pub state: DeliveryState,
    pub tries: u32,
    pub made_at: String,
    pub tried_at: Option<String>,
    /// What came of the last try: a status, or why there is none.
    pub answer: String,
    /// While it waits.
    pub next_try_at: Option<String>,
}

/// Everything an account has set up to be told, and the last of what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    fn names_are_those_of_messages_and_back() {
        for about in Occasion::ALL {
            let json = serde_json::to_value(about).unwrap();
            assert_eq!(json, about.name());
            assert_eq!(Occasion::from_name(about.name()), Some(about));
        }
        assert_eq!(Occasion::from_name("run.started"), None);
    }

    #[test]
    fn a_cause_stands_among_the_rest() {
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
