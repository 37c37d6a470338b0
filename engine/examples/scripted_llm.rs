//! Serves a fixed little script, to try an agent program by hand:
//!
//! ```sh
//! cargo run --package swe-ci-engine --example scripted_llm -- FOLDER
//! ```
//!
//! Put a `calc.py` that says `return a - b` into the folder, and give the
//! program a prompt that begins with `You are the programmer`.

#![expect(clippy::print_stdout, reason = "it tells where it can be reached")]

use std::time::Duration;

use swe_ci_core::agent::Protocol;
use swe_ci_engine::testing::scripted::{Script, ScriptedLlm, Turn};

const KEY: &str = "sk-scripted";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let folder = std::path::absolute(folder)?;
    let at = |file: &str| folder.join(file).display().to_string();
    let architect = vec![
        Turn::write(at("requirement.xml"), "<requirements/>\n"),
        Turn::say("The requirements are written."),
    ];
    let programmer = vec![
        Turn::edit(at("calc.py"), "    return a - b\n", "    return a + b\n"),
        Turn::write(at("notes.txt"), "It's a \"sum\" now: $a + `b`.\n"),
        Turn::bash("ls"),
        Turn::say("The sum is a sum."),
    ];
    let llm = ScriptedLlm::start(Script::new(architect, programmer), KEY).await?;
    println!("key\t{KEY}");
    for protocol in Protocol::ALL {
        println!("{protocol}\t{}", llm.url(protocol));
    }
    tell(&llm).await
}

/// Says what is asked, for as long as it runs.
async fn tell(llm: &ScriptedLlm) -> anyhow::Result<()> {
    let mut told = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let seen = llm.seen();
        for request in &seen[told..] {
            println!("{}\t{:?}", request.path, request.turn);
        }
        told = seen.len();
    }
}
