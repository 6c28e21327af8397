"""The command line: its commands, the shell, and their output."""
