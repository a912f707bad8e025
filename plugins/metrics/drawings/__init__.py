"""Figures and tables that metrics attach to their scores."""
