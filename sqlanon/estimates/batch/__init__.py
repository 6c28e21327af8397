"""Many queries at once, on a source and on its release."""
