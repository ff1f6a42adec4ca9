"""Gateway nodes: processes that hold sockets and sessions, around one core that decides, with a broker between them."""
