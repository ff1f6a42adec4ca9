"""The media worker: UDP, DTLS and SRTP. It knows transports, tracks and where they go, and no accounts."""
