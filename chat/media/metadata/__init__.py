"""Takes out of pictures and films what tells of their makers."""
