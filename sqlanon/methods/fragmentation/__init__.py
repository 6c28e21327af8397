"""METHOD fragments and METHOD loose: columns that must not be seen together are published apart."""
