/// Why something could not be had from GitHub. No variant holds the token; what
/// GitHub said is cut short and without control characters.
#[derive(Debug, thiserror::Error)]
pub enum GitHubError {
    /// A field of a search that cannot be asked for.
    #[error("the search's `{field}` cannot be used: {why}")]
    Search { field: &'static str, why: String },
    /// The token is refused, or something is not shown to it (401, 403).
    #[error("GitHub does not let us have {what} (it answered {status}: {said}): {advice}")]
    Denied {
        what: String,
        status: u16,
        said: String,
        advice: &'static str,
    },
    /// It does not understand what it was asked (422).
    #[error(
        "GitHub does not take {what}: {said}. Change the field of the search that this names (language, licences, topics, dates)"
    )]
    Refused { what: String, said: String },
    #[error("GitHub has no {what}: {advice}")]
    NotFound { what: String, advice: &'static str },
    /// A rate limit that ends later than is waited for.
    #[error("{why}, and that is longer than is waited for; not asked for {what}: {advice}")]
    RateLimited {
        what: String,
        why: String,
        advice: &'static str,
    },
    /// Any other answer that trying again will not change.
    #[error("GitHub answered {status} when asked for {what}: {said}")]
    Status {
        what: String,
        status: u16,
        said: String,
    },
    #[error(
        "cannot get {what}: {why}; given up after {tries} tries. Check the network and start again"
    )]
    GaveUp {
        what: String,
        tries: u32,
        why: String,
    },
    /// A redirect that is not followed.
    #[error(
        "GitHub sent us elsewhere for {what}; nothing was asked there. Pass the API's own address as the endpoint"
    )]
    Redirect { what: String },
    /// An answer that is not what the API says it is.
    #[error("GitHub's answer about {what} cannot be used: {why}")]
    Malformed { what: String, why: String },
}

impl GitHubError {
    /// Whether the next repository would fare no better.
    #[must_use]
    pub fn concerns_all(&self) -> bool {
        match self {
            Self::Denied { status, .. } => *status == 401,
            Self::RateLimited { .. } | Self::GaveUp { .. } => true,
            _ => false,
        }
    }
}

/// In characters: of a name or a sentence that others wrote.
const MOST_WORDS: usize = 200;

/// What others wrote, as it may stand in a message.
pub(super) fn tame(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control());
    plain.take(MOST_WORDS).collect()
}
