"""Names and numbers of the documents, as data: nothing in here decides or does anything."""
