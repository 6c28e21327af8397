"""A data file in, what is in it or an anonymized one out: the commands `sqlanon profile` and `sqlanon anonymize`."""
