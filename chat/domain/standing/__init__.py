"""Who may see and do what: guild states, permissions, relationships."""
