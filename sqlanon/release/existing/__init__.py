"""A release that exists: what it shows, how it is read, and what it was made of."""
