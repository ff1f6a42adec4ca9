"""Web Push: messages to people's devices by way of the push service of their browser (RFC 8030, 8291, 8292)."""
