//! Requests of the four protocols: those of harnesses pass, those that make the
//! provider act do not.
#![expect(
    clippy::needless_pass_by_value,
    reason = "the tables are made of `json!` values"
)]

use Protocol::{Chat, Gemini, Messages, Responses};
use serde_json::json;

use super::*;

/// `expect` has the reported names, separated by commas.
fn check(protocol: Protocol, body: Value, expect: &str) {
    let requested = requested(protocol, body.as_object().unwrap());
    let names: Vec<&str> = requested.iter().map(String::as_str).collect();
    assert_eq!(names.join(","), expect, "{protocol} {body}");
}

fn check_tool(protocol: Protocol, tool: Value, expect: &str) {
    check(protocol, json!({ "tools": [tool] }), expect);
}

#[test]
fn tools_that_the_harness_executes_pass() {
    let schema = json!({"type": "object", "properties": {"tools": {"type": "array"}, "url": {"type": "string"}}});
    let function = json!({"name": "web_search", "parameters": schema});
    check_tool(Chat, json!({"type": "function", "function": function}), "");
    check_tool(Chat, json!({"function": function}), "");
    check_tool(Chat, json!({"type": "custom", "custom": {"name": "x"}}), "");
    check(
        Chat,
        json!({"functions": [function], "use_beam_search": true}),
        "",
    );
    for tool in [
        json!({"type": "function", "name": "exec_command", "parameters": schema}),
        json!({"type": "custom", "name": "apply_patch"}),
        json!({"type": "local_shell"}),
        json!({"type": "apply_patch"}),
        json!({"type": "shell"}),
        json!({"type": "shell", "environment": null}),
        json!({"type": "shell", "environment": {"type": "local"}}),
        json!({"type": "tool_search", "execution": "client"}),
        json!({"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}),
    ] {
        check_tool(Responses, tool, "");
    }
    for tool in [
        json!({"name": "WebSearch", "input_schema": schema}),
        json!({"type": "custom", "name": "Bash", "input_schema": schema}),
        json!({"type": "bash_20250124", "name": "bash"}),
        json!({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}),
        json!({"type": "memory_20250818", "name": "memory"}),
        json!({"type": "computer_20251124", "name": "computer"}),
    ] {
        check_tool(Messages, tool, "");
    }
    check_tool(Gemini, json!({"functionDeclarations": [function]}), "");
    check_tool(
        Gemini,
        json!({"function_declarations": [function], "googleSearch": null}),
        "",
    );
    for protocol in Protocol::ALL {
        check(protocol, json!({"tools": []}), "");
        check(protocol, json!({"tools": null}), "");
    }
}

#[test]
fn tools_of_the_provider_are_named() {
    for kind in [
        "web_search",
        "web_search_preview",
        "openrouter:web_search",
        "builtin_function",
        "mcp",
        "retrieval",
    ] {
        check_tool(
            Chat,
            json!({"type": kind, "function": {"name": "$web_search"}}),
            kind,
        );
    }
    for kind in [
        "web_search",
        "web_search_preview_2025_03_11",
        "file_search",
        "code_interpreter",
        "mcp",
        "image_generation",
        "computer_use_preview",
        "x_search",
        "tool_search",
    ] {
        check_tool(Responses, json!({"type": kind}), kind);
    }
    let hosted = json!({"type": "shell", "environment": {"type": "container_auto"}});
    check_tool(Responses, hosted, "shell");
    let nested = json!({"type": "namespace", "tools": [{"type": "web_search"}]});
    check_tool(Responses, nested, "web_search");
    for kind in [
        "web_search_20250305",
        "web_search_20260209",
        "web_fetch_20250910",
        "code_execution_20250825",
        "mcp_toolset",
        "advisor_20260301",
        "tool_search_tool_regex_20251119",
        "bash_code_execution_20250825",
        "bash_",
        "web_search_tool",
    ] {
        check_tool(
            Messages,
            json!({"type": kind, "name": "web_search", "input_schema": {}}),
            kind,
        );
    }
    check_tool(Messages, json!({"name": "web_search"}), "web_search");
    for name in [
        "googleSearch",
        "google_search",
        "googleSearchRetrieval",
        "urlContext",
        "codeExecution",
        "code_execution",
        "fileSearch",
        "googleMaps",
        "mcpServers",
        "computerUse",
    ] {
        check_tool(Gemini, json!({name: {}, "functionDeclarations": []}), name);
    }
}

#[test]
fn tools_in_another_guise_are_named() {
    check(
        Chat,
        json!({"Tools": [{"type": "web_search"}]}),
        "web_search",
    );
    check(
        Chat,
        json!({"tool\u{17f}": [{"type": "web_search"}]}),
        "web_search",
    );
    check(Chat, json!({"tools": {"type": "web_search"}}), "tools");
    check(Chat, json!({"tools": ["web_search"]}), "tools");
    check_tool(
        Chat,
        json!({"type": "function", "Type": "web_search"}),
        "tools",
    );
    check_tool(Chat, json!({"type": ["web_search"]}), "tools");
    check_tool(Responses, json!({"name": "web_search"}), "web_search");
    let added = json!({"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]});
    check(Responses, added, "web_search");
    let counted = json!({"generateContentRequest": {"tools": [{"urlContext": {}}]}});
    check(Gemini, counted, "urlContext");
    let tool = json!({"type": format!("a`\n{}", "b".repeat(100))});
    check_tool(Chat, tool, &format!("a{}", "b".repeat(59)));
}

#[test]
fn fields_that_reach_out_are_named() {
    let check_field = |protocol, name: &str, value: Value| {
        check(protocol, json!({ name: value }), name);
    };
    check_field(
        Chat,
        "web_search_options",
        json!({"search_context_size": "low"}),
    );
    check_field(Chat, "search_parameters", json!({"mode": "on"}));
    check_field(Chat, "enable_search", json!(true));
    check_field(Chat, "plugins", json!([{"id": "web"}]));
    check_field(Chat, "models", json!(["openai/gpt-4o:online"]));
    check_field(Chat, "preset", json!("with-search"));
    check_field(
        Messages,
        "mcp_servers",
        json!([{"type": "url", "url": "https://x"}]),
    );
    check_field(Messages, "container", json!("container_1"));
    check_field(Responses, "previous_response_id", json!("resp_1"));
    check_field(Responses, "conversation", json!({"id": "conv_1"}));
    check_field(Responses, "background", json!(true));
    check_field(Responses, "prompt", json!({"id": "pmpt_1"}));
    check_field(Gemini, "cachedContent", json!("cachedContents/1"));
    check(
        Chat,
        json!({"extra_body": {"enable_search": true}}),
        "enable_search",
    );
    let vendor = json!({"extra_body": {"google": {"cached_content": "cachedContents/1"}}});
    check(Chat, vendor, "cached_content");
    // A field without content asks for nothing.
    let unset = json!({
        "previous_response_id": null, "background": false, "plugins": [], "web_search_options": null,
        "enable_search": false, "prompt": null, "conversation": "", "container": null,
    });
    for protocol in Protocol::ALL {
        check(protocol, unset.clone(), "");
    }
    let usual = json!({
        "store": true, "metadata": {"search": "x"}, "reasoning_effort": "high", "prompt_cache_key": "k",
        "include": ["reasoning.encrypted_content"], "service_tier": "auto", "context_management": {},
    });
    check(Responses, usual, "");
}

#[test]
fn media_are_inline() {
    let address = "https://example.org/a.png";
    let inline = "data:image/png;base64,AAAA";
    let chat = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    check(Chat, chat(image(inline)), "");
    check(Chat, chat(image(address)), "url");
    check(Chat, chat(image(" HTTPS://example.org")), "url");
    check(Chat, chat(image("file:///etc/passwd")), "url");
    check(
        Chat,
        chat(json!({"type": "image_url", "image_url": address})),
        "image_url",
    );
    check(
        Chat,
        chat(json!({"type": "video", "video": [address]})),
        "video",
    );
    check(
        Chat,
        chat(json!({"type": "file", "file": {"file_id": "file-1"}})),
        "file_id",
    );
    check(
        Chat,
        chat(json!({"type": "file", "file": {"file_data": inline}})),
        "",
    );
    check(Chat, chat(json!({"type": "text", "text": address})), "");
    check(
        Chat,
        json!({"messages": [{"role": "user", "content": address}]}),
        "",
    );

    let input = |item: Value| json!({ "input": [item] });
    let part = |part: Value| input(json!({"type": "message", "content": [part]}));
    check(
        Responses,
        part(json!({"type": "input_image", "image_url": inline})),
        "",
    );
    check(
        Responses,
        part(json!({"type": "input_image", "image_url": address})),
        "image_url",
    );
    check(
        Responses,
        part(json!({"type": "input_file", "file_url": address})),
        "file_url",
    );
    check(
        Responses,
        part(json!({"type": "input_file", "file_id": "file-1"})),
        "file_id",
    );
    check(
        Responses,
        input(json!({"type": "input_image", "image_url": address})),
        "image_url",
    );
    let output = json!({"type": "function_call_output", "output": [{"type": "input_image", "image_url": address}]});
    check(Responses, input(output), "image_url");
    let screenshot = json!({"type": "computer_call_output", "output": {"type": "computer_screenshot", "image_url": address}});
    check(Responses, input(screenshot), "image_url");
    let cited = json!({"type": "output_text", "text": "", "annotations": [{"type": "url_citation", "url": address}]});
    check(Responses, part(cited), "");
    let call = json!({"type": "local_shell_call", "action": {"type": "exec", "env": {"INDEX_URL": address}}});
    check(Responses, input(call), "");
    check(
        Responses,
        input(json!({"type": "item_reference", "id": "rs_1"})),
        "item_reference",
    );
    check(Responses, json!({"input": address}), "");

    let messages = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    let source = |kind: &str| json!({"type": "image", "source": {"type": kind, "url": address}});
    check(
        Messages,
        messages(json!({"type": "image", "source": {"type": "base64", "data": "AAAA"}})),
        "",
    );
    check(Messages, messages(source("url")), "image by url");
    check(Messages, messages(source("file")), "image by file");
    let result = |block: Value| messages(json!({"type": "tool_result", "content": [block]}));
    check(Messages, result(source("url")), "image by url");
    check(
        Messages,
        result(json!({"type": "text", "text": address})),
        "",
    );
    let call =
        json!({"type": "tool_use", "name": "WebFetch", "input": {"url": address, "tools": [1]}});
    check(Messages, messages(call), "");
    check(
        Messages,
        messages(json!({"type": "container_upload", "file_id": "f"})),
        "container_upload",
    );
    let found = json!({"type": "search_result", "source": address, "content": [{"type": "text", "text": ""}]});
    check(Messages, messages(found), "");
    check(
        Messages,
        json!({"messages": [{"role": "user", "content": address}]}),
        "",
    );

    let gemini = |part: Value| json!({"contents": [{"role": "user", "parts": [part]}]});
    check(
        Gemini,
        gemini(json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})),
        "",
    );
    check(
        Gemini,
        gemini(json!({"fileData": {"fileUri": address}})),
        "fileData",
    );
    check(
        Gemini,
        gemini(json!({"file_data": {"file_uri": address}})),
        "fileData",
    );
    let response = json!({"functionResponse": {"name": "f", "response": {"fileData": 1}}});
    check(Gemini, gemini(response), "");
    let response =
        json!({"functionResponse": {"name": "f", "parts": [{"fileData": {"fileUri": address}}]}});
    check(Gemini, gemini(response), "fileData");
    check(
        Gemini,
        gemini(json!({"functionCall": {"args": {"fileData": address}}})),
        "",
    );
}

#[test]
fn models_that_search_say_so() {
    let check =
        |model: &str, expect: bool| assert_eq!(is_searching_model(model), expect, "{model}");
    check("gpt-4o-search-preview", true);
    check("gpt-4o-mini-search-preview-2025-03-11", true);
    check("gpt-5-search-api", true);
    check("openai/gpt-4o:online", true);
    check("perplexity/sonar-pro", true);
    check("o4-mini-deep-research", true);
    check("groq/compound-mini", true);
    check("gpt-5.5", false);
    check("deepseek/deepseek-chat:free", false);
    check("research-lab/juniper-1", false);
    check("searcher-7b", false);
}

#[test]
fn the_refusal_says_what_to_do() {
    let names = ["a", "b"].map(str::to_owned).into();
    let text = refusal(&names);
    assert!(
        text.starts_with("`a`, `b` is not available in this benchmark"),
        "{text}"
    );
    assert!(
        text.contains("switch it off") && text.contains("allow_hosted_tools"),
        "{text}"
    );
}
