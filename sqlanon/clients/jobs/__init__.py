"""Jobs: scripts that cron or a similar program runs again and again. A run finds out whether there is anything to
do.
"""
