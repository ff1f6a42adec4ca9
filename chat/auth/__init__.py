"""Who is asking and what they may do: credentials, passwords, tokens, policies."""
