"""Where we look: boxes, polytopes, slices, and points and rows in them."""
