"""What several methods build on. It knows none of them."""
