"""Submissions: results of many people in one repository, checked, merged and withdrawn."""
