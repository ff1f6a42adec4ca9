"""What a session may be asked: the client commands (gateway.md, Order of inbound checks), and what they keep
running."""
