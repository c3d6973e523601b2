"""Small figures that an overview of one network needs: its weights, its data, what decides each class."""
