"""The open port: connections come in here, and each goes to one of the two engines above, HTTP or the gateway."""
