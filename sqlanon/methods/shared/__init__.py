"""Parts that several methods build on. They know none of the methods."""
