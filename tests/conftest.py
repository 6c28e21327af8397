"""What inputs the property tests draw: the same each time, unless others are asked for.

A test that fails then fails for whoever runs it, and because of the change at hand.
`--hypothesis-profile=random` draws new ones, to find what nobody has seen yet.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.load_profile("fixed")
