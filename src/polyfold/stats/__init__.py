"""Statistics of a network over its domain that follow from its atlas without sampling: one question a file."""
