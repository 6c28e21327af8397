"""anonymize() takes a data frame or a file and returns an anonymized data frame."""
