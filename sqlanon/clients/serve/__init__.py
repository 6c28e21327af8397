"""`sqlanon serve`, a door: readers query granted releases over Arrow Flight SQL, and never reach the source.

A room is a private file with copies of the granted releases and nothing else. Worker processes, which may be killed,
answer queries from a room. A gate in front of the workers admits one SELECT over granted relations.
"""
