"""Integrated gradients without steps: the gradient is constant on every segment of the way, so its mean is a sum."""
