//! The programs that a tool call starts, and the exit code in its result.

use serde_json::Value;

/// Arguments that hold a command, in the tools of the known harnesses.
const COMMAND: [&str; 4] = ["command", "cmd", "script", "keystrokes"];
/// Arguments of editors, whose `command` is a name such as `view`.
const PATHS: [&str; 3] = ["path", "file_path", "filePath"];
/// Words of a shell that start no program worth counting.
const SHELL_WORDS: [&str; 17] = [
    "cd", "export", "set", "unset", "source", ".", "echo", "printf", "true", "false", ":", "fi",
    "done", "for", "}", "exit", "wait",
];
/// Words before the program that they start.
const WRAPPERS: [&str; 14] = [
    "sudo", "time", "env", "nohup", "exec", "timeout", "xargs", "then", "else", "do", "if",
    "while", "{", "!",
];
/// Programs whose first argument says what they do.
const WITH_SUBCOMMAND: [&str; 7] = ["git", "pip", "pip3", "uv", "poetry", "npm", "cargo"];
const MAX_PROGRAMS: usize = 32;

/// The programs of a call in the order of their first start, each once: the
/// first word of each part of a shell command, without the shell's own words.
/// Empty for a call that runs no command.
pub(super) fn programs(arguments: &Value) -> Vec<String> {
    if PATHS.iter().any(|name| arguments.get(name).is_some()) {
        return Vec::new();
    }
    let command = COMMAND.iter().find_map(|name| arguments.get(name));
    let words = match command {
        Some(Value::String(text)) => return programs_of_shell(text),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    match &*words {
        [shell, flag, script, ..] if is_shell(shell) && is_script_flag(flag) => {
            programs_of_shell(script)
        }
        words => program(words).into_iter().collect(),
    }
}

fn is_shell(word: &str) -> bool {
    ["bash", "sh", "zsh"].contains(&base_name(word))
}

fn is_script_flag(word: &str) -> bool {
    word.starts_with('-') && word.ends_with('c')
}

fn programs_of_shell(script: &str) -> Vec<String> {
    let mut programs: Vec<String> = Vec::new();
    for part in parts(script) {
        let words = shlex::split(&part)
            .unwrap_or_else(|| part.split_whitespace().map(str::to_owned).collect());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let found = match &*words {
            [shell, flag, inner, ..] if is_shell(shell) && is_script_flag(flag) => {
                programs_of_shell(inner)
            }
            words => program(words).into_iter().collect(),
        };
        for program in found {
            if programs.len() < MAX_PROGRAMS && !programs.contains(&program) {
                programs.push(program);
            }
        }
    }
    programs
}

/// `pytest` of `PYTHONPATH=. timeout 60 python3 -m pytest -q`.
fn program(words: &[&str]) -> Option<String> {
    let mut words = words.iter().copied().skip_while(|word| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        is_assignment(word) || is_number || word.starts_with('-') || WRAPPERS.contains(word)
    });
    let first = base_name(words.next()?);
    if first.is_empty() || SHELL_WORDS.contains(&first) || first.starts_with(['#', '<', '>', '(']) {
        return None;
    }
    let mut arguments = words.skip_while(|word| word.starts_with('-') && *word != "-m");
    if first.starts_with("python") {
        return Some(match (arguments.next(), arguments.next()) {
            (Some("-m"), Some(module)) => module.to_owned(),
            _ => "python".to_owned(),
        });
    }
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    match arguments.find(|word| !word.starts_with('-') && is_name(word)) {
        Some(next) if WITH_SUBCOMMAND.contains(&first) => Some(format!("{first} {next}")),
        _ => Some(first.to_owned()),
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The commands of a script: split at line ends, `;`, `&` and `|` outside quotes,
/// without the bodies of here-documents.
fn parts(script: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut end_of_document: Option<String> = None;
    for line in script.lines() {
        if let Some(end) = &end_of_document {
            if line.trim() == end {
                end_of_document = None;
            }
            continue;
        }
        if quote.is_none() {
            end_of_document = here_document(line);
        }
        let mut escaped = false;
        for c in line.chars() {
            let splits = quote.is_none() && !escaped && matches!(c, ';' | '&' | '|');
            match splits {
                true => parts.push(String::new()),
                false => parts.last_mut().into_iter().for_each(|part| part.push(c)),
            }
            match quote {
                Some(open) if c == open && !escaped => quote = None,
                None if !escaped && matches!(c, '\'' | '"') => quote = Some(c),
                _ => {}
            }
            escaped = c == '\\' && !escaped && quote != Some('\'');
        }
        match quote {
            Some(_) => parts
                .last_mut()
                .into_iter()
                .for_each(|part| part.push('\n')),
            None if !escaped => parts.push(String::new()),
            // The next line continues this one.
            None => parts.last_mut().into_iter().for_each(|part| {
                part.pop();
            }),
        }
    }
    parts
}

/// The word that ends the here-document which a line begins.
fn here_document(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches('-').trim_start();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = rest.trim_start_matches(['\'', '"']);
    let end: String = word.chars().take_while(|c| is_word(*c)).collect();
    (!end.is_empty() && !rest.starts_with('<')).then_some(end)
}

/// Words before an exit code, in the results of the known harnesses.
const BEFORE_CODE: [&str; 4] = ["exit code", "exit_code", "exited with code", "returncode"];
/// The part of a result that is searched, at its start and its end.
const SEARCHED: usize = 400;

/// The exit code that a harness wrote at the start or the end of a result:
/// `Exit code: 1`, `"exit_code":1`, `<returncode>1</returncode>`.
pub(super) fn exit_code(result: &str) -> Option<i64> {
    let start = &result[..result.floor_char_boundary(SEARCHED)];
    let end = &result[result.ceil_char_boundary(result.len().saturating_sub(SEARCHED))..];
    code_in(start).or_else(|| code_in(end))
}

fn code_in(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    BEFORE_CODE.iter().find_map(|words| {
        let (_, rest) = text.split_once(words)?;
        let rest = rest.trim_start_matches(['"', ':', '>', '=', ' ']);
        let digits = rest.trim_start_matches('-');
        let end = digits.find(|c: char| !c.is_ascii_digit());
        digits[..end.unwrap_or(digits.len())].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn programs_of_calls() {
        let check = |arguments: Value, expect: &[&str]| {
            assert_eq!(programs(&arguments), expect, "{arguments}");
        };
        let shell = |script: &str, expect: &[&str]| {
            check(json!({"command": script}), expect);
        };
        shell("pytest -q", &["pytest"]);
        shell(
            "cd /app && PYTHONPATH=src:. timeout 60 python3 -m pytest -q 2>&1 | tail -5",
            &["pytest", "tail"],
        );
        shell("git -C . status; git diff", &["git status", "git diff"]);
        shell(
            "python setup.py test && python - <<'EOF'\nimport os; os.system('x | y')\nEOF\nls",
            &["python", "ls"],
        );
        shell("grep -n 'a | b; c' x.py || echo none", &["grep"]);
        shell("bash -lc 'ls && cat a'", &["ls", "cat"]);
        shell("sed -i 's/a/b/' \\\n  x.py", &["sed"]);
        shell("for f in *; do wc -l $f; done", &["wc"]);
        shell("cat 'never closed", &["cat"]);
        shell("", &[]);
        shell("# only a remark", &[]);
        check(json!({"cmd": ["bash", "-lc", "rg x"]}), &["rg"]);
        check(json!({"cmd": ["/usr/bin/git", "log"]}), &["git log"]);
        check(json!({"keystrokes": "ls -la\n", "duration": 0.1}), &["ls"]);
        // An editor's command is no program.
        check(json!({"command": "view", "path": "a.py"}), &[]);
        check(json!({"query": "x"}), &[]);
        check(json!("not an object"), &[]);
    }

    #[test]
    fn exit_codes() {
        let check = |result: &str, expect| assert_eq!(exit_code(result), expect, "{result}");
        check("Exit code: 1\nWall time: 0.1 seconds", Some(1));
        check("Command: ls\nOutput: x\nExit Code: 0", Some(0));
        check("<returncode>127</returncode>", Some(127));
        check(r#"{"output":"x","metadata":{"exit_code":2}}"#, Some(2));
        check("Process exited with code 3\n", Some(3));
        check("Exit code: (none)", None);
        check("1 passed", None);
        check(
            &format!("{}exit code: 4{}", "x".repeat(900), "y".repeat(900)),
            None,
        );
        check(&format!("{}\nexit code: 5", "ä".repeat(900)), Some(5));
    }
}
