"""`python -m swe_ci` is `swe-ci`, the program of the wheel."""

import os
import sys
from importlib.metadata import files


def main() -> None:
    for file in files("swe-ci") or ():
        if file.name == "swe-ci":
            program = str(file.locate())
            os.execv(program, [program, *sys.argv[1:]])
    sys.exit("error: this is the client alone; the wheel of a release has the program too")


if __name__ == "__main__":
    main()
