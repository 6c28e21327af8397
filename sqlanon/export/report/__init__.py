"""Reports: a page about one release for the person who decides about its publication."""
