"""A model behind chat completions, for `scripts/test-inspect.sh`: it calls one tool,
which does the work of an architect or a programmer, and then is done. Prints its
address."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REQUIREMENTS = """<requirements>
  <requirement>
    <location>README</location>
    <description>It does not say something new.</description>
    <contract>It says something new.</contract>
    <acceptance>One can read it.</acceptance>
  </requirement>
</requirements>"""

# Only an architect sees the tests that do not pass.
WORK = f"""if [ -d /app/non-passed ]; then cat >/app/requirement.xml <<'EOF'
{REQUIREMENTS}
EOF
else
    file=$(find /app/code -name '*.py' -not -path '*test*' | sort | head -n 1)
    echo '# Something new.' >>"$file"
fi"""


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    if messages[-1]["role"] == "tool":
        return {"role": "assistant", "content": "Done."}
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": WORK})},
    }
    return {"role": "assistant", "content": "Let me work.", "tool_calls": [call]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = answer(request["messages"])
        reason = "tool_calls" if "tool_calls" in message else "stop"
        content = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": "stand-in-2026",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 10,
                    "total_tokens": 110,
                    "prompt_tokens_details": {"cached_tokens": 40},
                },
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
