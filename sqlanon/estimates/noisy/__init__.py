"""The groups of an answer with noise, made of public keys; no respondent's rows change their number or their order."""
