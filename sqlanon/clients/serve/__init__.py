"""`sqlanon serve`: readers query granted releases over Arrow Flight SQL, and never reach the source.

A room is a private file that holds the granted releases and nothing else. Processes that may be killed answer queries
from a room. A gate in front of them admits one SELECT over granted relations.
"""
