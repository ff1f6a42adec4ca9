"""Sound and pictures: LiveKit's protocol towards clients, an engine that decides, a worker that forwards.

Floors, from below: `protocol` (bytes of STUN, RTP, RTCP, SDP), `engine` (rooms and who gets what), `signalling`
(LiveKit's messages), `media` (sockets, DTLS, SRTP), and on top the modules of this package, which join them to the
domain. Nothing here is imported before somebody enters voice.
"""
