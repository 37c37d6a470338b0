"""A model behind chat completions, for `scripts/test-harbor.sh`: it answers in the
format of Harbor's agent terminus-2, which types what an answer says into a terminal.
It makes one of the changes that the tests of tinydb wait for, and then is done.
Prints its address."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# The instruction names it as long as it fails.
TEST = "test_lru_cache_set_update"

FILE = "/app/code/tinydb/utils.py"
# The cache takes the new value of a key that it has.
OLD, NEW = "        if self.cache.get(key):", "            self.cache[key] = value"
CHANGE = rf"sed -i 's/^{OLD}$/&\n{NEW}/' {FILE}" + "\n"
LOOK = f"grep -n -A 2 'if self.cache.get' {FILE}\n"

WORK = {
    "analysis": "The cache keeps the old value of a key.",
    "plan": "It takes the new one.",
    "commands": [
        {"keystrokes": CHANGE, "duration": 1.0},
        {"keystrokes": LOOK, "duration": 0.5},
    ],
}
DONE = {
    "analysis": "The cache takes the new value of a key.",
    "plan": "Nothing is left to do.",
    "commands": [],
    "task_complete": True,
}


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The work at first, if it is not done yet. The agent asks twice whether all is done."""
    first = len(messages) == 1 and TEST in messages[0]["content"]
    return WORK if first else DONE


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": json.dumps(answer(request["messages"]))}
        content = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": "stand-in-2026",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
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
