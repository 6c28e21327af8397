"""anonymize(): a data frame or a file in, an anonymized data frame out."""
