"""Divides the bits of a number among columns, for the rows that functions under udfs/ read."""

from __future__ import annotations

# The low bits of a bucket's number that tell it from the others of its block.
LOCAL_BITS = 16

# The low bits of a code, a BIGINT, name the masks of a row's labels; the bits above are the number of its bucket in the
# block. A row that needs more bits has several codes.
CODE_BITS = 46

# The low bits that number a link; the bits above are those that number its group in the block.
LINK_BITS = 40
