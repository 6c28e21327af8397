"""Jobs: scripts that cron or the like runs again and again. A run finds out whether it has anything to do."""
