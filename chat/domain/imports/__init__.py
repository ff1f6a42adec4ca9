"""Communities that were brought along from elsewhere, and the people of the old place."""
