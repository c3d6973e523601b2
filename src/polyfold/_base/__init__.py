"""What every layer uses: rows and names, clocks, files, notebook tables, truth values."""
