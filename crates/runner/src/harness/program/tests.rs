//! Tests of descriptions: validation, jobs, digests, and the catalogue.

use swe_ci_base::code::Entry;
use swe_ci_sandbox::LAYER_FOLDER;

use super::*;

const GOOD: &str = r#"
name = "own"
title = "Our own"
version = "1.0"
protocol = "chat"
runtime = "python"
install = ['pip install own==$version']
command = 'own --model "$model" < "$prompt_file"'
[files]
"home/.own.json" = '{"key": "{{token}}"}'
[env]
OWN_URL = "{{gateway}}/v1"
"#;

const VALUES: StepValues<'_> = StepValues {
    gateway: "http://127.0.0.1:4000",
    token: "tok\"en",
    model: "it's",
    prompt: "Do it.",
    allow_hosted_tools: false,
};

fn own() -> Program {
    Program::parse("own.toml", GOOD).unwrap()
}

#[test]
fn valid_and_invalid_descriptions() {
    let check = |from: &str, to: &str, expect: &str| {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD, "{from}");
        let problem = Program::parse("own.toml", &text).unwrap_err();
        assert!(
            problem.starts_with("own.toml: ") && problem.contains(expect),
            "{problem}"
        );
    };
    check("title", "titel", "unknown field `titel`");
    check("\"chat\"", "\"talk\"", "unknown variant `talk`");
    check("\"own\"", "\"Own\"", "name: needs");
    check("\"own\"", "\"own-\"", "name: needs");
    check("\"own\"", "\"replay\"", "of the platform itself");
    check("\"1.0\"", "\"1;0\"", "version: needs");
    check("\"1.0\"", "\"-1\"", "version: needs");
    check("==$version'", "==$version\\'", "needs to be one line");
    check("['pip", "[\"\\n\", 'pip", "install: is empty");
    check("$version", "{{version}}", "values are variables");
    check("\"$model\"", "{{model}}", "values are variables");
    check("\"home/.own.json\"", "\"/home\"", "files: `/home`");
    check("\"home/.own.json\"", "\"../home\"", "files: `../home`");
    check("\"home/.own.json\"", "\"prompt.md\"", "files: `prompt.md`");
    check("{{token}}", "{{tokem}}", "`{{tokem}}` is not known");
    check("{{gateway}}", "{{gateway", "is not closed");
    check("OWN_URL", "HOME", "env: HOME is set already");
    check("OWN_URL", "\"OWN URL\"", "cannot name a variable");
    check(
        "[files]",
        "tarball = \"a/b.tgz\"\n[files]",
        "tarball: `a/b.tgz`",
    );
    check("Our own", &"x".repeat(70_000), "at most 65536 are allowed");
}

#[test]
fn a_job_has_the_prompt_the_files_and_no_token_in_its_command() {
    let job = own().job("2.0", &VALUES).unwrap();
    assert_eq!(job.files.file("prompt.md").unwrap(), b"Do it.");
    assert_eq!(
        job.files.file("home/.own.json").unwrap(),
        br#"{"key": "tok\"en"}"#
    );
    assert_eq!(
        job.env,
        ["HOME=/app/harness/home", "OWN_URL=http://127.0.0.1:4000/v1"]
    );
    assert_eq!(job.command[..2], ["sh", "-euc"]);
    let script = &job.command[2];
    assert!(script.contains("model='it'\\''s'\n") && script.contains("version='2.0'\n"));
    assert!(script.ends_with("own --model \"$model\" < \"$prompt_file\""));
    assert!(!script.contains("tok"));
    assert!(own().job("2.0; rm", &VALUES).is_err());
}

#[test]
fn the_digest_follows_what_decides_the_layer() {
    let check = |from: &str, to: &str, same: bool| {
        let other = Program::parse("own.toml", &GOOD.replace(from, to)).unwrap();
        assert_eq!(
            other.recipe("1.0").digest() == own().recipe("1.0").digest(),
            same,
            "{to}"
        );
    };
    check("Our own", "Theirs", true);
    check("{{gateway}}/v1", "{{gateway}}", true);
    check("own==", "their==", false);
    check("\"python\"", "\"node\"", false);
    assert_ne!(own().recipe("1.0").digest(), own().recipe("1.1").digest());
}

/// What the programs' commands start, with the settings of theirs that tell
/// which tools are on.
#[test]
fn hosted_tools_are_on_where_a_run_allows_them() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, harness) = (folder.path().join("layer"), folder.path().join("harness"));
    std::fs::create_dir_all(layer.join("bin")).unwrap();
    for program in ["claude", "codex", "node"] {
        let show = "#!/bin/sh\necho \"$@\"\ncat \"$HOME/.gemini/settings.json\" || true\n";
        let file = layer.join("bin").join(program);
        std::fs::write(&file, show).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, executable).unwrap();
    }
    let ours = Catalogue::open(&folder.path().join("none")).unwrap();
    let started = |name: &str, allow_hosted_tools: bool| {
        let step = StepValues {
            allow_hosted_tools,
            ..VALUES
        };
        let job = ours.get(name).unwrap().job("1.0", &step).unwrap();
        for (path, entry) in job.files.iter() {
            let Entry::File { bytes, .. } = entry else {
                continue;
            };
            let file = harness.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
        let here = |text: &str| {
            text.replace(LAYER_FOLDER, layer.to_str().unwrap())
                .replace("/app/harness", harness.to_str().unwrap())
        };
        let output = std::process::Command::new(&job.command[0])
            .args(job.command[1..].iter().map(|word| here(word)))
            .env("HOME", harness.join("home"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for (name, refused, allowed) in [
        ("codex", "web_search=\"disabled\"", "web_search=\"live\""),
        (
            "claude-code",
            "--disallowedTools WebSearch,WebFetch",
            "--disallowedTools WebFetch",
        ),
        ("gemini-cli", "google_web_search", "gemini-api-key"),
    ] {
        let (without, with) = (started(name, false), started(name, true));
        assert!(without.contains(refused), "{name}: {without}");
        assert!(
            with.contains(allowed) && !with.contains(refused),
            "{name}: {with}"
        );
    }
}

#[test]
fn ours_can_be_used_and_an_operators_stand_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Catalogue::open(&folder.path().join("harnesses"));
    let ours = open().unwrap();
    assert_eq!(ours.iter().count(), 9);
    for program in ours.iter() {
        let name = &program.name;
        assert_eq!(ours.get(name).unwrap().title, program.title);
        let job = program.job(&program.version, &VALUES).unwrap();
        for path in job.files.paths().collect::<Vec<_>>() {
            let text = std::str::from_utf8(job.files.file(path).unwrap()).unwrap();
            let reads = match path.rsplit_once('.') {
                Some((_, "json")) => serde_json::from_str::<serde_json::Value>(text).is_ok(),
                Some((_, "toml")) => toml::from_str::<toml::Table>(text).is_ok(),
                _ => true,
            };
            assert!(reads, "{name}: {path}: {text}");
        }
        for line in program.recipe(&program.version).lines("given") {
            assert!(!line.contains('\n'), "{name}: {line}");
        }
    }
    for (name, path, words) in [
        (
            "gemini-cli",
            "home/.gemini/settings.json",
            "google_web_search",
        ),
        (
            "opencode",
            "home/.config/opencode/opencode.json",
            "\"websearch\": \"deny\"",
        ),
        ("qwen-code", "home/.qwen/settings.json", "web_search"),
        ("iflow-cli", "home/.iflow/settings.json", "web_search"),
    ] {
        let program = ours.get(name).unwrap();
        let job = program.job(&program.version, &VALUES).unwrap();
        let file = String::from_utf8(job.files.file(path).unwrap().to_vec()).unwrap();
        assert!(
            file.contains(words),
            "{name} does not switch hosted tools off: {file}"
        );
    }
    let tarball = ours.get("iflow-cli").unwrap().recipe("0.5.19").tarball;
    assert_eq!(tarball.as_deref(), Some("iflow-cli-0.5.19.tgz"));

    let file = folder.path().join("harnesses/own.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, GOOD).unwrap();
    assert_eq!(open().unwrap().get("own").unwrap().title, "Our own");
    std::fs::write(&file, GOOD.replace("\"own\"", "\"aider\"")).unwrap();
    assert!(open().unwrap_err().contains("there is a harness `aider`"));
}
