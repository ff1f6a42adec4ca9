"""Durable background work: what is to be done outlives the server that was asked for it."""
