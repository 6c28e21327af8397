"""What is asked of releases, exports and tables: what they guarantee, what attacks learn, what they are good for."""
