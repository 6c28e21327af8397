"""Reports: a page about one release for the person who decides whether to publish it."""
