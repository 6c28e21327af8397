"""One query on a release: estimates, their spreads and bounds."""
