# Empties all functions: a test that passes then tests nothing.

import ast
import json
import sys


def _emptied(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [ast.Pass()]
    return ast.unparse(tree)


_files = json.loads(sys.stdin.buffer.readline())
sys.stdout.write(json.dumps({path: _emptied(text) for path, text in _files.items()}))
