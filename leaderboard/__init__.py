"""The leaderboard: compiles records into rankings and static pages; adds a command."""
