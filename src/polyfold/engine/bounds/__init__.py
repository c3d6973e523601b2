"""What can be said about a program on a bounded domain by linear programs and relaxations, on all of it or on cells."""
