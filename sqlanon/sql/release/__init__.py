"""The SELECTs that make releases."""
