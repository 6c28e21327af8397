"""The objects that sqlanon works with: frozen dataclasses, standard library only."""
