"""Friends, groups, calls and profiles."""
