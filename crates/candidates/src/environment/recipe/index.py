"""Runs a command with a package index that tells when files were uploaded.

    python3 index.py URL COMMAND...

Some mirrors answer as PEP 503 says and leave out the times of PEP 700, which
`PIP_UPLOADED_PRIOR_TO` needs; they have them in the JSON of each project beside
it. This serves the one as the other, on loopback, as long as the command runs.
"""

import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request


def page(project):
    with urllib.request.urlopen("%s/pypi/%s/json" % (ROOT, project), timeout=60) as answer:
        releases, base = json.load(answer)["releases"], answer.geturl()
    files = [file_of(file, base) for files in releases.values() for file in files]
    return {"meta": {"api-version": "1.1"}, "name": project, "versions": list(releases), "files": files}


def file_of(file, base):
    told = {
        "filename": file["filename"],
        "url": urllib.parse.urljoin(base, file["url"]),
        "hashes": {"sha256": file["digests"]["sha256"]},
        "size": file["size"],
        "upload-time": file["upload_time_iso_8601"],
        "yanked": bool(file["yanked"]) and (file["yanked_reason"] or True),
    }
    if file["requires_python"]:
        told["requires-python"] = file["requires_python"]
    return told


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            status, body = 200, json.dumps(page(self.path.strip("/"))).encode()
        except urllib.error.HTTPError as error:
            status, body = error.code, b""
        except (OSError, ValueError, KeyError) as error:
            print("ERROR: the package index %s: %s" % (ROOT, error), file=sys.stderr)
            status, body = 502, b""
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ROOT = sys.argv[1].rstrip("/")
ROOT = ROOT[: -len("/simple")] if ROOT.endswith("/simple") else ROOT
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["PIP_INDEX_URL"] = "http://127.0.0.1:%d" % server.server_port
for name in ("no_proxy", "NO_PROXY"):
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1"]))
sys.exit(subprocess.call(sys.argv[2:]))
