"""Text to statements and back: `script` splits, `parser` reads, `render` writes."""
