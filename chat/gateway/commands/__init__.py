"""What a session may be asked: the client commands of wire facts 1.3, and what they keep running."""
