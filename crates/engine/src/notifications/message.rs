//! The content of notifications, as data and as text, and their signature
//! (Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`).
//! Pure functions.

use anyhow::Context;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use sha2::Sha256;
use swe_ci_base::clock::rfc3339;
use swe_ci_core::run::Progress;
use swe_ci_store::Due;
use swe_ci_views::notification::{News, Occasion, WebhookData, WebhookMessage};

pub const PREFIX: &str = "whsec_";

/// The longest name of a model in a subject, in characters.
const LONGEST_NAME: usize = 80;

/// The body for a webhook, the same in every attempt. `site` is the public
/// address of the site.
pub fn body(due: &Due, site: Option<&str>) -> String {
    let data = match &due.news {
        Some(news) => WebhookData::Run {
            news: news.clone(),
            url: address(Some(news), site),
        },
        None => WebhookData::Test {
            message: "This is a test.".to_owned(),
        },
    };
    let message = WebhookMessage {
        occasion: due.event,
        timestamp: rfc3339(due.made_at),
        data,
    };
    json!(message).to_string()
}

/// `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; the timestamp
/// in unix seconds.
pub fn signature(
    secret: &SecretString,
    id: &str,
    timestamp: i64,
    body: &str,
) -> anyhow::Result<String> {
    let key = secret.expose_secret().trim_start_matches(PREFIX);
    let key = BASE64_STANDARD.decode(key);
    let key = key.context("the signing secret of the webhook is not base64")?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key)?;
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    let tag = mac.finalize().into_bytes();
    Ok(format!("v1,{}", BASE64_STANDARD.encode(tag)))
}

/// Subject and text of a mail. `code` is the code to be entered, if the mail is
/// about one.
pub fn mail(due: &Due, site: Option<&str>, code: &str) -> (String, String) {
    let page = site.map_or_else(
        || "the page /notifications of the site".to_owned(),
        |site| format!("{site}/notifications"),
    );
    let (subject, mut text) = match (due.event, &due.news) {
        (Occasion::Code, _) => (
            "Confirm your address".to_owned(),
            format!(
                "Somebody, hopefully you, wants mails about runs to be sent here. Enter this code on {page} to confirm:\n\n    {code}\n\nIt is valid for a day. If it was not you, you need not do anything: without the code nothing more is sent.\n"
            ),
        ),
        (about, Some(news)) => about_run(about, news, site),
        (_, None) => ("A test".to_owned(), "This is a test.\n".to_owned()),
    };
    if due.event != Occasion::Code {
        text.push_str(&format!("\n-- \nYou asked for this on {page}\n"));
    }
    (format!("[swe-ci] {subject}"), text)
}

fn about_run(about: Occasion, news: &News, site: Option<&str>) -> (String, String) {
    let model = one_line(&news.model);
    let what = match (about, news.progress) {
        (Occasion::RunBlocked, _) => "is blocked",
        (Occasion::RunBudget, _) => "has spent its budget",
        (_, Progress::Cancelled) => "is cancelled",
        _ => "is finished",
    };
    let mut lines = vec![
        format!("The run of {model} over the split {} {what}.", news.split),
        String::new(),
        format!(
            "Evolutions: {}, of them blocked: {}, stopped by the budget: {}",
            news.evolutions, news.evolutions_blocked, news.evolutions_out_of_budget
        ),
    ];
    if let Some(cause) = &news.cause {
        lines.push(format!("Task: {}", cause.task_id));
        let why = one_line(&cause.reason);
        lines.extend((!why.is_empty()).then(|| format!("Why: {why}")));
    }
    let link = address(Some(news), site).unwrap_or_else(|| format!("/runs/{}", news.run_id));
    lines.extend([String::new(), link, String::new()]);
    let name: String = model.chars().take(LONGEST_NAME).collect();
    (format!("{name} {what}"), lines.join("\n"))
}

fn address(news: Option<&News>, site: Option<&str>) -> Option<String> {
    Some(format!("{}/runs/{}", site?, news?.run_id))
}

/// User text as part of a line: it cannot begin another one.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(plain).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use swe_ci_views::notification::{Cause, Channel};

    fn due(event: Occasion, news: Option<News>) -> Due {
        Due {
            delivery_id: "d".into(),
            event,
            news,
            made_at: 1_614_265_330_500,
            tries: 1,
            target_id: "t".into(),
            channel: Channel::Webhook,
            address: "https://example.org/".into(),
            of_admin: false,
        }
    }

    fn news(model: &str, progress: Progress) -> News {
        News {
            run_id: "r1".into(),
            model: model.into(),
            split: "demo".into(),
            progress,
            evolutions: 3,
            evolutions_blocked: 1,
            evolutions_out_of_budget: 0,
            cause: None,
        }
    }

    /// The example of the Standard Webhooks specification.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let secret = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signed = signature(
            &secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(
            signed.unwrap(),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
        assert!(signature(&"whsec_?".into(), "m", 1, "").is_err());
    }

    #[test]
    fn bodies_say_what_when_and_where() {
        let finished = due(
            Occasion::RunFinished,
            Some(news("acme-1", Progress::Finished)),
        );
        let json: Value = serde_json::from_str(&body(&finished, Some("https://b.org"))).unwrap();
        assert_eq!(
            json,
            json!({
                "type": "run.finished",
                "timestamp": "2021-02-25T15:02:10Z",
                "data": {
                    "run_id": "r1", "model": "acme-1", "split": "demo", "progress": "finished",
                    "evolutions": 3, "evolutions_blocked": 1, "evolutions_out_of_budget": 0,
                    "url": "https://b.org/runs/r1",
                },
            })
        );
        assert!(!body(&finished, None).contains("url"));
        let test = due(Occasion::Test, None);
        assert!(body(&test, Some("https://b.org")).contains("This is a test."));
    }

    #[test]
    fn mails_are_plain_and_names_stay_on_their_line() {
        let evil = "acme\r\nBcc: eve@example.org\u{0}\n\nBuy";
        let mut blocked_news = news(evil, Progress::Running);
        blocked_news.cause = Some(Cause {
            evolution_id: "e".into(),
            task_id: "task-1".into(),
            reason: "the provider\nis gone".into(),
        });
        let blocked = due(Occasion::RunBlocked, Some(blocked_news));
        let (subject, text) = mail(&blocked, Some("https://b.org"), "");
        assert_eq!(
            subject,
            "[swe-ci] acme  Bcc: eve@example.org   Buy is blocked"
        );
        assert!(!text.contains("\nBcc"), "{text}");
        for part in [
            "over the split demo is blocked.",
            "Task: task-1",
            "Why: the provider is gone",
            "\nhttps://b.org/runs/r1\n",
            "https://b.org/notifications",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let long = due(
            Occasion::RunFinished,
            Some(news(&"x".repeat(300), Progress::Cancelled)),
        );
        let (subject, _) = mail(&long, None, "");
        assert!(subject.len() < 120 && subject.ends_with("is cancelled"));
        let (_, text) = mail(&due(Occasion::Code, None), None, "ABCDE-FGHIJ");
        assert!(text.contains("\n    ABCDE-FGHIJ\n") && text.contains("/notifications"));
    }
}
