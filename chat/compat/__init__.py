"""What programs that were written for other services of this family expect, at the edge: nothing else knows of it."""
