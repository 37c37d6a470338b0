//! Mails: sent by the operator's SMTP server as plain text. A code proves who
//! owns a mailbox: it is sent there and entered on the site.

use std::fmt;
use std::time::Duration;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};

/// How long the server may stay silent.
const SILENCE: Duration = Duration::from_secs(10);
/// The longest address, in bytes.
const LONGEST_ADDRESS: usize = 254;

/// 32 letters and digits that cannot be confused.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Letters of a code: 50 random bits, too many for five guesses.
const CODE: usize = 10;

/// Sends mails. Cheap to clone.
#[derive(Clone)]
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl fmt::Debug for Mailer {
    /// Without the server's URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mailer({})", self.from)
    }
}

/// Why a notification did not arrive.
#[derive(Debug)]
pub struct Failure {
    /// A text that may be shown.
    pub why: String,
    /// Whether a retry is useless.
    pub for_good: bool,
}

impl Failure {
    pub fn for_now(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            for_good: false,
        }
    }

    pub fn for_good(why: String) -> Self {
        Self {
            why,
            for_good: true,
        }
    }
}

impl Mailer {
    /// Connects by `smtps://user:password@host:port`, or `smtp://…`, with
    /// `?tls=required` for STARTTLS; `from` is an address, or a name and an
    /// address.
    ///
    /// # Errors
    /// The problem, without anything secret.
    pub fn new(url: &SecretString, from: &str) -> std::result::Result<Self, String> {
        let must = "write smtps://USER:PASSWORD@HOST, smtp://USER:PASSWORD@HOST:587?tls=required, or smtp://HOST for a server that needs neither";
        let parsed = Url::parse(url.expose_secret()).map_err(|_| must.to_owned())?;
        if !["smtp", "smtps"].contains(&parsed.scheme()) || parsed.host_str().is_none() {
            return Err(must.into());
        }
        let tls = parsed.query_pairs().find(|(name, _)| name == "tls");
        let secret = parsed.password().is_some();
        let secure =
            parsed.scheme() == "smtps" || tls.is_some_and(|(_, value)| value == "required");
        let here = ["localhost", "127.0.0.1", "[::1]"];
        let here = parsed.host_str().is_some_and(|host| here.contains(&host));
        if secret && !secure && !here {
            return Err(
                "the password would be sent in the clear; use smtps:// or add ?tls=required".into(),
            );
        }
        let from: Mailbox = from.parse().map_err(|_| {
            "the sender of mails is not an address such as swe-ci@example.org or SWE-CI <swe-ci@example.org>".to_owned()
        })?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
            .map_err(|_| must.to_owned())?;
        Ok(Self {
            transport: transport.timeout(Some(SILENCE)).build(),
            from,
        })
    }

    /// Sends a mail; `id` is the same in every attempt. Returns the server's
    /// answer.
    pub async fn send(
        &self,
        id: &str,
        to: &str,
        subject: &str,
        text: String,
    ) -> std::result::Result<String, Failure> {
        let message = self.message(id, to, subject, text).map_err(|error| {
            Failure::for_good(format!("it cannot be formatted as a mail: {error:#}"))
        })?;
        let sent = self.transport.send(message).await;
        sent.map(|response| response.code().to_string())
            .map_err(|error| not_sent(&error))
    }

    fn message(&self, id: &str, to: &str, subject: &str, text: String) -> anyhow::Result<Message> {
        let id = format!("<{id}@{}>", self.from.email.domain());
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to.parse()?))
            .subject(subject)
            .message_id(Some(id))
            .header(ContentType::TEXT_PLAIN)
            .body(text)?;
        // Suppresses automatic replies.
        message.headers_mut().insert_raw(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".into(),
        ));
        Ok(message)
    }
}

/// The server's text may disclose internals; only its code is passed on.
fn not_sent(error: &smtp::Error) -> Failure {
    let why = match error.status() {
        Some(code) => format!("the mail server answers {code}"),
        None if error.is_timeout() => "the mail server does not answer".into(),
        None if error.is_tls() => "the mail server cannot be reached by TLS".into(),
        None => "the mail server cannot be reached".into(),
    };
    Failure {
        why,
        for_good: error.is_permanent(),
    }
}

/// The bare address: without a name, a comment, a line end.
///
/// # Errors
/// [`Error::Invalid`].
pub fn address(text: &str) -> Result<String> {
    let text = text.trim();
    let parsed: Option<Address> = text.parse().ok();
    let plain = text.len() <= LONGEST_ADDRESS
        && text.is_ascii()
        && !text
            .bytes()
            .any(|b| b.is_ascii_control() || b" <>,;\"".contains(&b));
    match parsed.filter(|_| plain) {
        Some(address) => Ok(address.to_string()),
        None => Err(Error::Invalid(
            "this is not an e-mail address, such as ada@example.org".into(),
        )),
    }
}

/// A new code, in two groups.
pub fn random_code() -> anyhow::Result<String> {
    // 32 letters, so each is equally likely.
    let letter = |b| char::from(ALPHABET[usize::from(b) % ALPHABET.len()]);
    let mut code = String::from_iter(crate::random::<CODE>()?.map(letter));
    code.insert(CODE / 2, '-');
    Ok(code)
}

/// The stored form of a code, independent of how it is typed.
pub fn digest_of_code(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.take(2 * CODE).collect();
    sha256_hex(letters.to_ascii_uppercase().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_one_mailbox_and_nothing_else() {
        for good in ["ada@example.org", " ada+runs@mail.example.org "] {
            assert_eq!(address(good).unwrap(), good.trim());
        }
        for bad in [
            "",
            "ada",
            "ada@",
            "@example.org",
            "ada@example.org, eve@example.org",
            "ada@example.org\r\nBcc: eve@example.org",
            "Ada <ada@example.org>",
            "\"a b\"@example.org",
            &format!("{}@example.org", "a".repeat(260)),
        ] {
            assert!(address(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_way_to_the_server_is_checked_and_not_repeated() {
        let new = |url: &str, from: &str| Mailer::new(&url.into(), from);
        for good in [
            "smtps://u:hunter2@mail.example.org",
            "smtp://u:hunter2@mail.example.org:587?tls=required",
            "smtp://u:hunter2@localhost:2525",
            "smtp://mail.example.org",
        ] {
            let mailer = new(good, "SWE-CI <swe-ci@example.org>").unwrap();
            assert!(!format!("{mailer:?}").contains("hunter2"), "{mailer:?}");
        }
        for bad in [
            "smtp://u:hunter2@mail.example.org",
            "smtp://u:hunter2@mail.example.org?tls=opportunistic",
            "smtp://mail.example.org?tls=maybe",
            "https://u:hunter2@mail.example.org",
            "hunter2",
        ] {
            let says = new(bad, "swe-ci@example.org").unwrap_err();
            assert!(
                !says.contains("hunter2") && says.contains("smtps://"),
                "{says}"
            );
        }
        let says = new("smtp://localhost", "a\r\nBcc: b@example.org").unwrap_err();
        assert!(says.contains("sender"), "{says}");
    }

    #[test]
    fn codes_are_random_and_taken_however_they_are_typed() {
        let code = random_code().unwrap();
        assert_ne!(code, random_code().unwrap());
        assert_eq!(code.len(), 11);
        let typed = format!(" {} ", code.to_lowercase().replace('-', " "));
        assert_eq!(digest_of_code(&typed), digest_of_code(&code));
        assert_ne!(digest_of_code("ABCDE-FGHJK"), digest_of_code(&code));
    }

    /// No subject can add a header.
    #[test]
    fn headers_hold_what_they_are_given() {
        let mailer = Mailer::new(&"smtp://localhost".into(), "swe-ci@example.org").unwrap();
        let subject = "x\r\nBcc: eve@example.org\r\n\r\nbody";
        let made = mailer.message("id", "ada@example.org", subject, "text\n".into());
        let text = String::from_utf8(made.unwrap().formatted()).unwrap();
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        assert!(!head.lines().any(|line| line.starts_with("Bcc")), "{text}");
        assert!(head.contains("Message-ID: <id@example.org>"), "{text}");
        assert!(head.contains("Auto-Submitted: auto-generated"), "{text}");
        assert!(text.ends_with("\r\n\r\ntext\r\n"), "{text}");
    }
}
