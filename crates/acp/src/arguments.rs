//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub const USAGE: &str = "usage: swe-ci-acp --prompt FILE [--auth METHOD] [--mode MODE] \
    [--set OPTION=VALUE]... [--without fs|terminal]... -- COMMAND [ARGUMENT]...";

#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The file with the prompt.
    pub prompt: PathBuf,
    /// How the agent is to authenticate, for agents that want to be told.
    pub auth: Option<String>,
    /// The session's mode, where the agent's first one is not wanted.
    pub mode: Option<String>,
    /// Options of the session, as names and values.
    pub options: Vec<(String, String)>,
    /// The client offers these to the agent, which does by itself what nobody offers.
    pub offer: Offer,
    /// Starts the agent; not empty.
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    pub files: bool,
    pub terminals: bool,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let (mut prompt, mut auth, mut mode, mut options) = (None, None, None, Vec::new());
        let mut offer = Offer {
            files: true,
            terminals: true,
        };
        loop {
            let Some(word) = words.next() else {
                return Err("the agent's command is missing".to_owned());
            };
            if word == "--" {
                break;
            }
            let option = word.to_string_lossy().into_owned();
            let mut value = || {
                let value = words.next().and_then(|value| value.into_string().ok());
                value.ok_or_else(|| format!("{option}: the value is missing"))
            };
            match option.as_str() {
                "--prompt" => prompt = Some(value()?),
                "--auth" => auth = Some(value()?),
                "--mode" => mode = Some(value()?),
                "--set" => {
                    let value = value()?;
                    let pair = value.split_once('=');
                    let (name, value) = pair.ok_or("--set: needs OPTION=VALUE")?;
                    options.push((name.to_owned(), value.to_owned()));
                }
                "--without" => match value()?.as_str() {
                    "fs" => offer.files = false,
                    "terminal" => offer.terminals = false,
                    other => return Err(format!("--without: {other} is neither fs nor terminal")),
                },
                _ => return Err(format!("{option}: there is no such option")),
            }
        }
        let command: Vec<OsString> = words.collect();
        if command.is_empty() {
            return Err("the agent's command is missing".to_owned());
        }
        Ok(Self {
            prompt: prompt.ok_or("--prompt is missing")?.into(),
            auth,
            mode,
            options,
            offer,
            command,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let parse = |line: &str| Arguments::parse(line.split_whitespace().map(OsString::from));
        let line = "--prompt p --auth key --set model=m=1 --without fs -- agent --acp";
        let arguments = parse(line).unwrap();
        assert!(!arguments.offer.files && arguments.offer.terminals);
        assert_eq!(arguments.auth.as_deref(), Some("key"));
        assert_eq!(arguments.options, [("model".into(), "m=1".into())]);
        assert_eq!(arguments.command, ["agent", "--acp"]);
        let check = |line: &str, expect: &str| {
            let problem = parse(line).unwrap_err();
            assert!(problem.contains(expect), "{line}: {problem}");
        };
        check("", "command is missing");
        check("--prompt p --", "command is missing");
        check("-- agent", "--prompt is missing");
        check("--prompt", "--prompt: the value is missing");
        check("--set model -- agent", "needs OPTION=VALUE");
        check("--without all -- agent", "all is neither fs nor terminal");
        check("--yolo -- agent", "--yolo: there is no such option");
    }
}
