"""The in-process event bus: what the domain says after a commit, and to whom it is addressed."""
