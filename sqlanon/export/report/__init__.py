"""A page about one release, for whoever decides whether it may be given away."""
