//! What a step was recorded as.

swe_ci_core::named! {
    /// How the conversation of a step was recorded.
    pub enum RecordingFormat {
        /// By the gateway: every request with its answer.
        Exchanges = "exchanges",
        /// By another program, in Harbor's interchange format.
        Atif = "atif",
    }
}

impl RecordingFormat {
    /// The file name of a recording in ATIF. All others are exchanges.
    pub const ATIF_NAME: &str = "trajectory.atif.json";

    /// Of the recording with this key.
    pub fn of(recording: &str) -> Self {
        let name = recording.rsplit('/').next().unwrap_or_default();
        match name.starts_with(Self::ATIF_NAME) {
            true => Self::Atif,
            false => Self::Exchanges,
        }
    }
}
