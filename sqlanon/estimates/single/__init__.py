"""One query on a release: estimates, standard errors and bounds."""
