"""Fleets of real processes, and everything that can happen to them."""
