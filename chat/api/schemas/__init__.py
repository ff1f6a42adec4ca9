"""What the API answers: the objects of the wire as shapes, one module per family (`chat.api.schemas.shapes`)."""
