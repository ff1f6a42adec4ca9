"""STUN, RTP, RTCP and SDP as pure functions: bytes or text in, values out, and back."""
