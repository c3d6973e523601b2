"""Lines and planes through large programs, cut into cells vertex by vertex."""
