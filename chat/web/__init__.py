"""The pages people land on: sign-in, recovery, consent, settings. Neighbour of the API, on the same port."""
