//! What is known of a provider before anybody fills in the form.

#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// In addresses; also the usual name of its key.
    pub name: &'static str,
    pub title: &'static str,
    pub url: &'static str,
    /// Of its models; empty where they are of many.
    pub provider: &'static str,
    /// The harness, which determines the protocol.
    pub harness: &'static str,
    pub needs_key: bool,
}

pub static PRESETS: [Preset; 7] = [
    remote("openai", "OpenAI", "https://api.openai.com/v1", "codex"),
    remote(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        "claude-code",
    ),
    remote(
        "google",
        "Google",
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-cli",
    ),
    Preset {
        provider: "",
        ..remote(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            "opencode",
        )
    },
    remote(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/v1",
        "opencode",
    ),
    remote(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "opencode",
    ),
    Preset {
        provider: "",
        needs_key: false,
        ..remote(
            "local",
            "vLLM, llama.cpp, Ollama",
            "http://localhost:8000/v1",
            "opencode",
        )
    },
];

const fn remote(
    name: &'static str,
    title: &'static str,
    url: &'static str,
    harness: &'static str,
) -> Preset {
    Preset {
        name,
        title,
        url,
        provider: title,
        harness,
        needs_key: true,
    }
}

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }
}
