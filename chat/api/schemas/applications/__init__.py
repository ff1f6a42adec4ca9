"""Applications, their bots and OAuth2."""
