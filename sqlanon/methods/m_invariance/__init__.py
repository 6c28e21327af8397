"""m-invariance: releases of a series in which each respondent has the same candidate values every time."""
