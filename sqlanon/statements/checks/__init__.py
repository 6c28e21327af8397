"""What releases, exports and tables guarantee, and what attacks learn from them."""
