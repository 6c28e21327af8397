"""A query taken apart, and whether a release can answer each part."""
