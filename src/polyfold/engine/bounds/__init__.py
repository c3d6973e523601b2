"""What can be said about a program on a bounded domain without listing its cells: linear programs and relaxations."""
