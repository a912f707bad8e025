"""The leaderboard: compiles records into rankings and static pages. A plugin that adds a command."""
