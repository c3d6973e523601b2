"""The page's sections: one question each, `section(bench)` measures and tells."""
