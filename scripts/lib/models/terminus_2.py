"""A model for Harbor's agent terminus-2, which types what an answer says into a
terminal. It makes one of the changes that the tests of tinydb wait for, and then is
done."""

import json

from serve import Message, serve

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


def answer(messages: list[Message]) -> Message:
    """The work at first, if it is not done yet. The agent asks twice whether all is done."""
    first = len(messages) == 1 and TEST in messages[0]["content"]
    return {"role": "assistant", "content": json.dumps(WORK if first else DONE)}


serve(answer)
