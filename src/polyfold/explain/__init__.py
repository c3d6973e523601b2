"""Which inputs a prediction rests on."""
