//! Requests that make a model's provider act for the agent: search the web,
//! fetch an address, run code, call a connector, or remember a conversation.
//!
//! An agent has no network, but its provider has one, and the solutions of the
//! tasks are on the internet. Tools are therefore judged by a list of the
//! allowed ones: functions that the harness itself executes. Other fields are
//! judged by name, because providers have many harmless ones of their own.
//!
//! Names are compared without letter case and punctuation: some providers
//! accept `googleSearch` and `google_search`, others any letter case.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::agent::Protocol;

/// Fields that a provider's own tools, other models or stored conversations
/// hide behind, in every protocol.
const FIELDS: [&str; 8] = [
    "background",
    "cachedcontent",
    "container",
    "conversation",
    "fallbacks",
    "models",
    "preset",
    "previousresponseid",
];

/// Parts of such names: `web_search_options`, `search_parameters`,
/// `enable_search`, `mcp_servers`, `plugins`.
const FIELD_WORDS: [&str; 6] = [
    "search",
    "mcp",
    "plugin",
    "connector",
    "browsing",
    "grounding",
];

/// Names with such a part that mean something else.
const HARMLESS_FIELDS: [&str; 1] = ["usebeamsearch"];

/// Fields that hold an image, a sound or a document: inline, or its address.
const MEDIA: [&str; 5] = ["image", "video", "audio", "document", "file"];

/// The tools of Anthropic's that its clients execute. A date follows.
const ANTHROPIC_CLIENT_TOOLS: [&str; 4] = ["bash_", "text_editor_", "memory_", "computer_"];

/// The longest reported name, in characters.
const LONGEST_NAME: usize = 60;

/// The names of everything in a request that its provider would execute, fetch
/// or remember; empty for a request that a benchmark can allow.
pub fn requested(protocol: Protocol, body: &Map<String, Value>) -> BTreeSet<String> {
    let mut inspection = Inspection {
        protocol,
        requested: BTreeSet::new(),
    };
    inspection.body(body);
    inspection.requested
}

/// Whether a model answers from the web by itself, as far as its name says so.
pub fn is_searching_model(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    let mut words = model.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| ["search", "online", "sonar", "compound"].contains(&word))
        || model.contains("deep-research")
}

/// The refusal of a request, for a harness and for those who read its log.
pub fn refusal(requested: &BTreeSet<String>) -> String {
    let names: Vec<String> = requested.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "{} is not available in this benchmark: the model's provider would search, fetch, execute or remember for the agent. \
         Continue with the tools of this environment, and send content inline; switch it off in the settings of the harness. \
         (A run that sets allow_hosted_tools may use it, and is not ranked.)",
        names.join(", ")
    )
}

struct Inspection {
    protocol: Protocol,
    requested: BTreeSet<String>,
}

impl Inspection {
    fn body(&mut self, body: &Map<String, Value>) {
        self.fields(body);
        for tools in named(body, "tools") {
            self.tools(tools);
        }
        match self.protocol {
            Protocol::Chat => {
                for message in all_objects(body, "messages") {
                    self.parts_of(message, "content");
                }
            }
            Protocol::Responses => self.responses(body),
            Protocol::Messages => self.messages(body),
            Protocol::Gemini => self.gemini(body),
        }
    }

    fn fields(&mut self, body: &Map<String, Value>) {
        for (name, value) in body.iter().filter(|(_, value)| is_set(value)) {
            let plain = plain(name);
            let by_word = FIELD_WORDS.iter().any(|word| plain.contains(word));
            let harmless = HARMLESS_FIELDS.contains(&plain.as_str());
            if FIELDS.contains(&plain.as_str()) || (by_word && !harmless) {
                self.report(name);
            }
            // Some proxies merge this field into the request.
            if let ("extrabody", Value::Object(extra)) = (plain.as_str(), value) {
                self.extra_body(extra);
            }
        }
    }

    fn extra_body(&mut self, extra: &Map<String, Value>) {
        self.body(extra);
        for vendor in extra.values().filter_map(Value::as_object) {
            self.body(vendor);
        }
    }

    fn tools(&mut self, tools: &Value) {
        match tools {
            Value::Array(tools) => {
                for tool in tools {
                    self.tool(tool);
                }
            }
            other if is_set(other) => self.report("tools"),
            _ => {}
        }
    }

    fn tool(&mut self, tool: &Value) {
        let Value::Object(fields) = tool else {
            return self.report("tools");
        };
        if self.protocol == Protocol::Gemini {
            return self.gemini_tool(fields);
        }
        let mut kinds = named(fields, "type");
        let kind = kinds.next();
        if kinds.next().is_some() {
            return self.report("tools");
        }
        let kind_name = kind.and_then(Value::as_str);
        let allowed = match (self.protocol, kind_name) {
            (_, None) if kind.is_some() => false,
            (Protocol::Messages, None | Some("custom")) => {
                named(fields, "inputschema").next().is_some()
            }
            (Protocol::Messages, Some(kind)) => is_anthropic_client_tool(kind),
            (Protocol::Chat, None) => fields.get("function").is_some_and(Value::is_object),
            (_, Some("function" | "custom")) => true,
            (Protocol::Responses, Some(kind)) => return self.responses_tool(kind, fields),
            _ => false,
        };
        if !allowed {
            let name = fields.get("name").and_then(Value::as_str);
            self.report(kind_name.or(name).unwrap_or("tools"));
        }
    }

    fn responses_tool(&mut self, kind: &str, fields: &Map<String, Value>) {
        let allowed = match kind {
            "local_shell" | "apply_patch" => true,
            // The provider runs a shell in its own container unless told that
            // the environment is local.
            "shell" => named(fields, "environment").all(|environment| {
                let kind = environment.get("type");
                environment.is_null() || kind.is_some_and(|kind| kind == "local")
            }),
            "tool_search" => fields
                .get("execution")
                .is_some_and(|value| value == "client"),
            "namespace" => {
                for tools in named(fields, "tools") {
                    self.tools(tools);
                }
                true
            }
            _ => false,
        };
        if !allowed {
            self.report(kind);
        }
    }

    fn responses(&mut self, body: &Map<String, Value>) {
        // A stored prompt may bring its own tools.
        if named(body, "prompt").any(is_set) {
            self.report("prompt");
        }
        let items = ["input", "instructions"];
        for item in items.into_iter().flat_map(|name| all_objects(body, name)) {
            match item.get("type").and_then(Value::as_str) {
                Some("item_reference") => self.report("item_reference"),
                Some("input_image" | "input_file" | "input_audio") => self.part(item),
                _ => {}
            }
            // Codex adds tools in the middle of a conversation.
            for tools in named(item, "tools") {
                self.tools(tools);
            }
            self.parts_of(item, "content");
            self.parts_of(item, "output");
        }
    }

    fn messages(&mut self, body: &Map<String, Value>) {
        self.blocks_of(body, "system");
        for message in all_objects(body, "messages") {
            self.blocks_of(message, "content");
        }
    }

    fn blocks_of(&mut self, holder: &Map<String, Value>, field: &str) {
        for block in all_objects(holder, field) {
            let kind = block.get("type").and_then(Value::as_str).unwrap_or("block");
            if kind == "container_upload" {
                self.report(kind);
            }
            for source in all_objects(block, "source") {
                let inline = source.get("type").and_then(Value::as_str).unwrap_or("");
                if !["base64", "text", "content"].contains(&inline) {
                    self.report(&format!("{kind} by {inline}"));
                }
                self.blocks_of(source, "content");
            }
            self.blocks_of(block, "content");
        }
    }

    fn gemini_tool(&mut self, tool: &Map<String, Value>) {
        for (name, value) in tool {
            if !value.is_null() && plain(name) != "functiondeclarations" {
                self.report(name);
            }
        }
    }

    fn gemini(&mut self, body: &Map<String, Value>) {
        for request in all_objects(body, "generatecontentrequest") {
            self.body(request);
        }
        for field in ["contents", "systeminstruction"] {
            for content in all_objects(body, field) {
                self.gemini_parts_of(content);
            }
        }
    }

    fn gemini_parts_of(&mut self, holder: &Map<String, Value>) {
        for part in all_objects(holder, "parts") {
            if named(part, "filedata").any(is_set) {
                self.report("fileData");
            }
            for response in all_objects(part, "functionresponse") {
                self.gemini_parts_of(response);
            }
        }
    }

    fn parts_of(&mut self, holder: &Map<String, Value>, field: &str) {
        for part in all_objects(holder, field) {
            self.part(part);
        }
    }

    /// A part of a message: media must be inline, neither an address nor the id
    /// of a stored file. Media are one level deeper in some protocols
    /// (`image_url: { url }`); lists such as citations are nothing to fetch.
    fn part(&mut self, part: &Map<String, Value>) {
        for (name, value) in part {
            self.reference(name, value);
            for (inner, value) in value.as_object().into_iter().flatten() {
                self.reference(inner, value);
            }
        }
    }

    fn reference(&mut self, name: &str, value: &Value) {
        let plain = plain(name);
        let address = plain.ends_with("url") || plain.ends_with("uri");
        let texts = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        let remote = texts.iter().filter_map(Value::as_str).any(|text| {
            let outside = if address {
                !is_inline(text)
            } else {
                MEDIA.contains(&plain.as_str()) && text.contains("://") && !is_inline(text)
            };
            !text.is_empty() && outside
        });
        if remote || (plain == "fileid" && is_set(value)) {
            self.report(name);
        }
    }

    fn report(&mut self, name: &str) {
        let name = name.chars().filter(|c| !c.is_control() && *c != '`');
        self.requested.insert(name.take(LONGEST_NAME).collect());
    }
}

fn is_anthropic_client_tool(kind: &str) -> bool {
    ANTHROPIC_CLIENT_TOOLS.iter().any(|prefix| {
        let date = kind.strip_prefix(prefix).unwrap_or("");
        !date.is_empty() && date.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_inline(address: &str) -> bool {
    let start = address.trim_start().get(..5);
    start.is_some_and(|start| start.eq_ignore_ascii_case("data:"))
}

/// Whether a field says anything.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// A name without letter case and punctuation. Upper case first: it has fewer
/// variants of a letter.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let upper = letters.flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

/// The values of all fields with this plain name.
fn named<'a>(fields: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = &'a Value> {
    let found = fields.iter().filter(move |(other, _)| plain(other) == name);
    found.map(|(_, value)| value)
}

/// The objects in the fields with this plain name, whether in a list or not.
fn all_objects<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    let values = named(fields, name);
    let items = values.flat_map(|value| {
        value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice)
    });
    items.filter_map(Value::as_object)
}

#[cfg(test)]
mod tests;
