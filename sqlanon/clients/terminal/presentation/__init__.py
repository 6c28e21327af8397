"""Shows a user's result tables, errors and status lines, for a terminal, a pipe or a machine.

Results go to standard output and everything else to standard error, so that a pipe
carries results only. Colours appear on a terminal and nowhere else; NO_COLOR turns them off.
"""

from __future__ import annotations
