"""Builders of generalization hierarchies, one file for each kind.

A hierarchy (Samarati 2001, section 2) has the values at level 0, coarser and coarser partitions above them, and a
single value, `*`, at the top. The builders make the levels in between; their callers add `*`.
"""

from __future__ import annotations
