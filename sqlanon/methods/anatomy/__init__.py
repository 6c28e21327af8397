"""METHOD anatomy: publishes the rows with their buckets, and the sensitive values in separate tables."""
