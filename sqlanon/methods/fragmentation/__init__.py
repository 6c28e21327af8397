"""METHOD fragments and METHOD loose: publish columns that must not be read together in separate tables."""
