"""The report on one network: what was found, in plain words and pictures, as one HTML file."""
