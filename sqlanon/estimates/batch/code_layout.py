"""How many bits of a number stand for what, in the rows that functions under udfs/ read."""

from __future__ import annotations

__all__ = ["CODE_BITS", "LINK_BITS", "LOCAL_BITS"]

# Buckets of a block agree but for so many bits of their numbers.
LOCAL_BITS = 16

# A code, a BIGINT, has so many bits for what labels satisfy, and above them those of a bucket in its block. Of more
# masks a row has several codes.
CODE_BITS = 46

# Links are fewer than this many bits count.
LINK_BITS = 40
