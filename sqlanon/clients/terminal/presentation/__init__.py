"""Prints result tables, errors and status lines, for a terminal, a pipe or a program.

Results go to standard output and everything else to standard error, so that a pipe has only results. Colors appear only
on a terminal; NO_COLOR turns them off.
"""

from __future__ import annotations
