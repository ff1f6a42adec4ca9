"""LiveKit's signalling: its messages, as protobuf in binary frames or as JSON in text frames."""
