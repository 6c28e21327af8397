"""Scripts that are run again and again, by cron and the like: whether there is anything to do, and what came of it."""
