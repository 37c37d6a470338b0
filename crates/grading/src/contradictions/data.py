# This part: files beside the tests, from which tests may be made.

import re

_PAIRS = 2  # of forms of one file
_WORD = re.compile("[A-Za-z]{3,}")
_KEY = re.compile(r'"[^"\\\n]*"\s*:')  # of a JSON object
_NO_WORD = _KEY.pattern + r"|\\u[0-9a-fA-F]{4}|\\."


def _data_forms(text, rng, known):
    """Forms of a file in which the words of some blocks are changed, and the words
    that are new in each. Which blocks are expected and which are inputs is found
    out by running the tests."""
    lines = text.splitlines(True)
    alike = collections.Counter(lines)
    blocks, number = [], 0
    for line in lines:
        # What is there again and again divides the blocks, like headings and empty lines.
        divides = alike[line] > 2 or line.startswith("#") or not _WORD.search(line)
        number += divides or bool(_KEY.match(line.strip()))
        blocks.append(None if divides else number)
    places = {block: at for at, block in enumerate(dict.fromkeys(b for b in blocks if b is not None))}
    forms = []
    for pair in range(_PAIRS):
        # First every other block, then by chance: an input has several blocks.
        coins = [rng.random() < 0.5 if pair else at % 2 == 0 for at in range(len(places))]
        for side in (True, False):
            changed, by = set(), rng.randint(1, 25)
            chosen = (block is not None and coins[places[block]] == side for block in blocks)
            new = [_turned(line, by, changed, known) if c else line for line, c in zip(lines, chosen)]
            forms.append(("".join(new), changed))
    return [form for form in forms if form[1]]


def _turned(line, by, changed, known):
    """All words, each into one that is not known."""

    def turned(match):
        word = match[0]
        firsts = [ord("A" if c < "a" else "a") for c in word]
        new = "".join(chr((ord(c) - first + by) % 26 + first) for c, first in zip(word, firsts))
        if match[1] or new in known:
            return word
        changed.add(new)
        return new

    return re.sub(f"({_NO_WORD})|{_WORD.pattern}", turned, line)


def _data(files, seed):
    """The files in pieces, as the tests have them, and the new words of each form."""
    pieces, words = {}, {}
    known = {word for text in files.values() for word in _WORD.findall(text)}
    for path, text in files.items():
        forms = _data_forms(text, random.Random(seed + path), known)
        contradictions = [{"kind": "constant", "natural": True, "text": form} for form, _ in forms]
        if forms:
            pieces[path] = [{"test": "", "as_written": text, "contradictions": contradictions}]
            words[path] = [sorted(changed) for _, changed in forms]
    return pieces, words
