"""Names and numbers of the wire, as data: nothing in here decides or does anything."""
