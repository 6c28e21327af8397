"""The SELECTs that a release is made from."""
