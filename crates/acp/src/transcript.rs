//! Writes the updates of a session as lines of the step's log.

use std::io::Write;

use serde_json::Value;

/// Characters of a line; the rest is left out.
const MAX_LINE: usize = 2_000;

/// Bytes in all; later lines are left out.
const MAX_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub struct Transcript<W> {
    out: W,
    /// The line that the agent is saying, piece by piece.
    line: String,
    is_thought: bool,
    written: usize,
    /// The last usage of the context window that the agent told.
    context: Option<Value>,
}

impl<W: Write> Transcript<W> {
    pub fn new(out: W) -> Self {
        Self {
            out,
            line: String::new(),
            is_thought: false,
            written: 0,
            context: None,
        }
    }

    /// Writes down an update. Of an unknown kind, as newer agents may send,
    /// nothing is told.
    pub fn update(&mut self, update: &Value) {
        let text = |name: &str| update[name].as_str().unwrap_or_default();
        match text("sessionUpdate") {
            "agent_message_chunk" => self.say(&update["content"], false),
            "agent_thought_chunk" => self.say(&update["content"], true),
            "tool_call" => self.line(&format!("[{}] {}", kind(update), text("title"))),
            "tool_call_update" if text("status") == "failed" => {
                let subject = update["title"].as_str();
                let subject = subject.unwrap_or_else(|| text("toolCallId"));
                self.line(&format!("[failed] {subject}"));
            }
            "plan" => {
                for entry in update["entries"].as_array().into_iter().flatten() {
                    let [status, content] =
                        ["status", "content"].map(|name| entry[name].as_str().unwrap_or_default());
                    self.line(&format!("[plan, {status}] {content}"));
                }
            }
            "usage_update" => self.context = Some(update.clone()),
            _ => {}
        }
    }

    /// Writes a line of its own.
    pub fn line(&mut self, line: &str) {
        self.end_line();
        self.write(line);
    }

    /// The usage, where the agent tells any. Nothing depends on it: the gateway
    /// counts.
    pub fn usage(&mut self, usage: &Value) {
        let counts: Vec<String> = usage
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, count)| Some(format!("{name} {}", count.as_u64()?)))
            .collect();
        if !counts.is_empty() {
            self.line(&format!("[usage, by the agent] {}", counts.join(", ")));
        }
        if let Some(context) = self.context.take() {
            let (used, size) = (context["used"].as_u64(), context["size"].as_u64());
            if let (Some(used), Some(size)) = (used, size) {
                self.line(&format!("[context, by the agent] {used} of {size} tokens"));
            }
        }
    }

    /// A piece of text: lines are written once they are whole.
    fn say(&mut self, content: &Value, is_thought: bool) {
        if is_thought != self.is_thought {
            self.end_line();
            self.is_thought = is_thought;
        }
        let mut rest = content["text"].as_str().unwrap_or_default();
        while let Some((line, after)) = rest.split_once('\n') {
            self.push(line);
            self.end_line();
            rest = after;
        }
        self.push(rest);
    }

    fn push(&mut self, text: &str) {
        // Some bytes more than the characters that are shown, and no memory for
        // a line without end.
        if self.line.len() <= 4 * MAX_LINE {
            self.line.push_str(text);
        }
    }

    pub fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        if self.is_thought {
            self.write(&format!("[thought] {line}"));
        } else {
            self.write(&line);
        }
    }

    fn write(&mut self, line: &str) {
        if self.written > MAX_BYTES {
            return;
        }
        let plain = |c: char| if c.is_control() && c != '\t' { ' ' } else { c };
        let shown: String = line.chars().take(MAX_LINE).map(plain).collect();
        self.written += shown.len() + 1;
        // Without a reader of the log, the work goes on.
        let _ = writeln!(self.out, "{shown}");
        if self.written > MAX_BYTES {
            let _ = writeln!(self.out, "[the rest is left out]");
        }
        let _ = self.out.flush();
    }
}

fn kind(update: &Value) -> &str {
    update["kind"].as_str().unwrap_or("tool")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(write: impl FnOnce(&mut Transcript<Vec<u8>>)) -> String {
        let mut transcript = Transcript::new(Vec::new());
        write(&mut transcript);
        transcript.end_line();
        String::from_utf8(transcript.out).unwrap()
    }

    fn chunk(of: &str, text: &str) -> Value {
        json!({ "sessionUpdate": of, "content": { "type": "text", "text": text } })
    }

    #[test]
    fn updates_are_lines() {
        let text = written(|transcript| {
            for update in [
                chunk("agent_thought_chunk", "Let me "),
                chunk("agent_thought_chunk", "see."),
                chunk("agent_message_chunk", "I read"),
                chunk("agent_message_chunk", " it.\nNow I write\u{1b}[2J."),
                json!({ "sessionUpdate": "tool_call", "title": "Write a.py", "kind": "edit" }),
                json!({ "sessionUpdate": "tool_call", "title": "Ask" }),
                json!({ "sessionUpdate": "tool_call_update", "status": "completed" }),
                json!({ "sessionUpdate": "tool_call_update", "status": "failed", "toolCallId": "7" }),
                json!({ "sessionUpdate": "plan", "entries": [{ "content": "All", "status": "pending" }] }),
                json!({ "sessionUpdate": "usage_update", "used": 5, "size": 10 }),
                json!({ "sessionUpdate": "of_tomorrow" }),
                json!("nothing"),
            ] {
                transcript.update(&update);
            }
            transcript.usage(&json!({ "inputTokens": 4, "_meta": {} }));
        });
        assert_eq!(
            text,
            "[thought] Let me see.\nI read it.\nNow I write [2J.\n[edit] Write a.py\n[tool] Ask\n\
             [failed] 7\n[plan, pending] All\n[usage, by the agent] inputTokens 4\n\
             [context, by the agent] 5 of 10 tokens\n"
        );
    }

    #[test]
    fn long_lines_and_long_sessions_are_cut() {
        let piece = "x".repeat(1_000);
        let endless = written(|transcript| {
            for _ in 0..10_000 {
                transcript.update(&chunk("agent_message_chunk", &piece));
                assert!(transcript.line.len() < 10_000);
            }
        });
        assert_eq!(endless.len(), MAX_LINE + 1);
        let long = written(|transcript| {
            for _ in 0..10_000 {
                transcript.line(&piece);
            }
        });
        assert!(long.len() < MAX_BYTES + 2_000);
        assert!(long.ends_with("[the rest is left out]\n"));
    }
}
