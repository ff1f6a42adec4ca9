"""Files: where their bytes lie, what they are, and the addresses under which they are served."""
