"""The geometry that pictures need: what of the cells lies in a view, as corners."""
