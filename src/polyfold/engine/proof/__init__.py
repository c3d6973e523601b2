"""Proving what the engine found: checks that are cheap, and certificates that share no decision with it."""
