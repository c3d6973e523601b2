"""The sections of a report: results in plain words. Each is a function from what was found to a section, or None."""
