"""Programs made of programs: some outputs, two side by side, gates that tell classes."""
