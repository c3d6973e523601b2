"""The explorer: a web page over cells, and the server behind it (`polyfold serve`)."""
