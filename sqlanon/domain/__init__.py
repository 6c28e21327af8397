"""What sqlanon talks about: frozen dataclasses, standard library only."""
