"""The canonical form: a description of a function that no network behind it shows through."""
