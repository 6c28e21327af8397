"""The command line: commands, the shell, and what they print."""
