"""Changes the first outcome in a packed run, and leaves its signature as it is."""

import io
import json
import subprocess
import sys
import tarfile

source, target = sys.argv[1:]
packed = subprocess.run(["zstd", "-dc", source], check=True, capture_output=True).stdout
forged = io.BytesIO()
with tarfile.open(fileobj=io.BytesIO(packed)) as old, tarfile.open(fileobj=forged, mode="w") as new:
    for entry in old:
        file = old.extractfile(entry)
        content = file.read() if file else b""
        if entry.name == "submission.json":
            run = json.loads(content)
            row = run["evolutions"][0]["iterations"][0]
            row["outcomes"] = "p" * len(row["outcomes"])
            content = json.dumps(run).encode()
            entry.size = len(content)
        new.addfile(entry, io.BytesIO(content))
subprocess.run(["zstd", "-q", "-f", "-o", target], check=True, input=forged.getvalue())
