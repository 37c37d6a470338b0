# This part: the files that are graded come over standard input too. The engine
# needs longer to put a single one into a container than Python for thousands.

import errno

_MODES = {"file": 0o644, "program": 0o755}


def _receive(folders, files):
    """Makes folders, and writes files whose bytes follow each other, given
    `[kind, path, size]` of each. Their time is 1970, as agents see it."""
    try:
        folders = set(folders)
        for folder in folders:
            os.makedirs(folder, exist_ok=True)
        for kind, path, size in files:
            content = sys.stdin.buffer.read(size)
            folder = os.path.dirname(path)
            if folder not in folders:
                os.makedirs(folder, exist_ok=True)
                folders.add(folder)
            if os.path.lexists(path):
                os.remove(path)  # the image's
            if kind == "link":
                os.symlink(content, os.fsencode(path))
            else:
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODES[kind]), "wb") as file:
                    file.write(content)
                os.utime(path, (0, 0))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            _tell("disk_full")
        raise
