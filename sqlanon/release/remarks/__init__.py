"""Remarks on possible errors in the roles of a policy, from the source and from the classes. They are no verdicts."""
