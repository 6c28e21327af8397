"""Remarks on possible errors in the roles of a policy, from the source and from the classes. They do not decide
anything.
"""
