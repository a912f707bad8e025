"""Plugins that third parties could have written; each comes in through an entry point."""
