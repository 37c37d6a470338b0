//! The placeholders of a description, for values known only when a step begins.
//! In files and in the environment they are written `{{name}}`; commands see
//! them as variables, so that no value can become part of a command.

use std::fmt::Write as _;

use swe_ci_gateway::ACP_DRIVER;
use swe_ci_sandbox::LAYER_FOLDER;

use super::{HOME, PROMPT_FILE};

#[derive(Clone, Copy)]
pub struct StepValues<'a> {
    /// `http://127.0.0.1:PORT`
    pub gateway: &'a str,
    /// Grants access to the gateway in this step alone.
    pub token: &'a str,
    pub model: &'a str,
    pub prompt: &'a str,
    /// Whether the run allows tools that the model's provider executes.
    pub allow_hosted_tools: bool,
}

impl std::fmt::Debug for StepValues<'_> {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepValues")
            .field("gateway", &self.gateway)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

pub(super) struct Values<'a> {
    pub version: &'a str,
    pub step: &'a StepValues<'a>,
}

/// Commands get all values except the token, since process lists show commands,
/// and the prompt, which may be longer than a command can be.
const IN_COMMANDS: &str = "acp gateway home hosted_tools layer model prompt_file version";

/// Files in which values are inside double quotes.
const QUOTING: [&str; 4] = [".json", ".toml", ".yaml", ".yml"];

impl Values<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        Some(match name {
            "acp" => ACP_DRIVER,
            "gateway" => self.step.gateway,
            "home" => HOME,
            "hosted_tools" if self.step.allow_hosted_tools => "allowed",
            "hosted_tools" => "refused",
            "layer" => LAYER_FOLDER,
            "model" => self.step.model,
            "prompt" => self.step.prompt,
            "prompt_file" => PROMPT_FILE,
            "token" => self.step.token,
            "version" => self.version,
            _ => return None,
        })
    }

    pub fn fill(&self, template: &str) -> Result<String, String> {
        self.fill_with(template, str::to_owned)
    }

    pub fn fill_file(&self, path: &str, template: &str) -> Result<String, String> {
        if QUOTING.iter().any(|end| path.ends_with(end)) {
            self.fill_with(template, quoted)
        } else {
            self.fill(template)
        }
    }

    fn fill_with(&self, template: &str, escape: fn(&str) -> String) -> Result<String, String> {
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            let closed = after.split_once("}}");
            let (name, after) = closed.ok_or("a `{{` is not closed by `}}`")?;
            let value = self.get(name);
            let value = value.ok_or_else(|| format!("`{{{{{name}}}}}` is not known"))?;
            text.push_str(before);
            text.push_str(&escape(value));
            rest = after;
        }
        text.push_str(rest);
        Ok(text)
    }

    /// Lines of a shell script that set shell variables. They are not exported,
    /// so that the programs it starts do not inherit them.
    pub fn assignments(&self) -> String {
        let line = |name| {
            let value = self.get(name).unwrap_or_default();
            format!("{name}='{}'\n", value.replace('\'', "'\\''"))
        };
        IN_COMMANDS.split(' ').map(line).collect()
    }
}

/// The inside of a double-quoted string of JSON, which TOML and YAML read
/// alike. A character that is special in one of the three is written as its
/// number.
fn quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        let special = matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        );
        if matches!(c, '"' | '\\') {
            text.extend(['\\', c]);
        } else if special || c.is_control() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_the_file_wants_them() {
        let step = StepValues {
            gateway: "http://127.0.0.1:80",
            token: "to\"ken",
            model: "a\\b",
            prompt: "1\n2\u{7f}\u{2028}é🦀",
            allow_hosted_tools: false,
        };
        let values = Values {
            version: "1.0",
            step: &step,
        };
        let check = |path: &str, template: &str, expect: Result<&str, &str>| {
            let filled = values.fill_file(path, template);
            assert_eq!(
                filled.as_deref().map_err(String::as_str),
                expect,
                "{path}: {template}"
            );
        };
        check("a.txt", "{{token}} {{model}}", Ok("to\"ken a\\b"));
        check(
            "a.json",
            "{\"a\":{\"b\":\"{{token}}\"}}",
            Ok("{\"a\":{\"b\":\"to\\\"ken\"}}"),
        );
        check("a.toml", "m = \"{{model}}\"", Ok("m = \"a\\\\b\""));
        check(
            "a.yaml",
            "p: \"{{prompt}}\"",
            Ok("p: \"1\\u000a2\\u007f\\u2028é🦀\""),
        );
        check(
            "a",
            "{{version}}{{home}}{{layer}}",
            Ok("1.0/app/harness/home/opt/swe-ci/agent"),
        );
        check("a", "{{key}}", Err("`{{key}}` is not known"));
        check("a", "{{token", Err("a `{{` is not closed by `}}`"));
    }

    #[test]
    fn debug_output_holds_no_token() {
        let step = StepValues {
            gateway: "g",
            token: "secret",
            model: "m",
            prompt: "p",
            allow_hosted_tools: false,
        };
        assert!(!format!("{step:?}").contains("secret"));
    }
}
