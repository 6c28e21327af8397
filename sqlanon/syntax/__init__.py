"""The parts of statements as text: tokens, a reader with errors that say where, and the text of each part."""
