"""`python -m tests.golden` shows what changed in the SQL of each step; `--update` writes it into the files."""

from __future__ import annotations

import argparse
import sys

from tests.golden.files import UPDATE, differences, update
from tests.golden.steps import steps


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--update", action="store_true", help="rewrite the SQL below each header")
    if parser.parse_args().update:
        for path in update(steps()):
            print(f"tests/golden/{path}: write its header, one to three lines: -- Look for: ...")
        return 0
    found = differences(steps())
    print("\n".join(found), end="\n" * bool(found))
    if found:
        print(f"if this is what was meant: {UPDATE}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
