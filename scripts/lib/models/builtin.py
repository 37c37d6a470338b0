"""A model for the built-in agent: it calls one tool, which does the work of an
architect or a programmer, and then is done."""

import json

from serve import Message, serve

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


def answer(messages: list[Message]) -> Message:
    if messages[-1]["role"] == "tool":
        return {"role": "assistant", "content": "Done."}
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": WORK})},
    }
    return {"role": "assistant", "content": "Let me work.", "tool_calls": [call]}


serve(answer)
