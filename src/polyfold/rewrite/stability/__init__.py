"""Which neurons never switch on a domain."""
