"""Programs that measure one thing each, in a process of their own, and print one JSON object as their last line."""
