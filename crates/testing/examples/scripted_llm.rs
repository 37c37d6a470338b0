//! Serves a short fixed script, to try an agent program by hand:
//!
//! ```sh
//! cargo run --package swe-ci-testing --example scripted_llm -- FOLDER
//! ```
//!
//! Put a `calc.py` that contains `return a - b` into the folder, and give the
//! program a prompt that starts with `You are the programmer`.

#![expect(clippy::print_stdout, reason = "prints its addresses and requests")]

use std::time::Duration;

use swe_ci_core::agent::Protocol;
use swe_ci_testing::scripted::{Script, ScriptedLlm, Turn};

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
    print_requests(&llm).await
}

/// Prints new requests until the process ends.
async fn print_requests(llm: &ScriptedLlm) -> anyhow::Result<()> {
    let mut printed = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let requests = llm.seen();
        for request in &requests[printed..] {
            println!("{}\t{:?}", request.path, request.turn);
        }
        printed = requests.len();
    }
}
