"""From a subject to results: every analysis that the report shows, as far as time and size allow."""
