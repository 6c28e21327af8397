"""m-invariance: releases of a series in which everybody has the same values to choose from each time."""
