"""What `chat dev` and the test kit add to a server: a seeded world, and routes that look inside and pull levers."""
