"""The floor of the gateway: a bare loop of `send()`, in a process of its own.

`python -m chat.bench.gateway_floor BYTES` speaks as much of the gateway as the load generator needs: a client that
upgrades gets Hello, one that identifies gets Ready, every POST becomes a Dispatch to all of them, numbered for each, in
frames of BYTES. No rules, no store, no tasks, nothing retained. Prints its port.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from typing import Final

from chat.classes import define
from chat.protocol.frames import TEXT, frame_header, text_frame
from chat.registries.opcodes import Opcode

HEAD_END: Final = b"\r\n\r\n"
UPGRADED: Final = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
ANSWERED: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
HELLO: Final = text_frame(b'{"op":10,"d":{"heartbeat_interval":41250}}')
ACKNOWLEDGED: Final = text_frame(b'{"op":11}')
READY: Final = text_frame(b'{"op":0,"t":"READY","s":1,"d":{}}')
PREFIX: Final = b'{"op":0,"t":"MESSAGE_CREATE","s":'
READ_BYTES: Final = 65_536
BACKLOG: Final = 4_096


@define(eq=False)
class Client:
    """A connection; `sequence` is 0 until it has identified."""

    socket: socket.socket
    received: bytes = b""
    upgraded: bool = False
    sequence: int = 0


class Floor:
    def __init__(self, listener: socket.socket, frame_bytes: int) -> None:
        self._listener = listener
        self._frame_bytes = frame_bytes
        self._poll = select.epoll()
        self._poll.register(listener.fileno(), select.EPOLLIN)
        self._clients: dict[int, Client] = {}
        self._ready: dict[int, Client] = {}

    def run(self) -> None:
        """Until the process is ended."""
        while True:
            for descriptor, _ in self._poll.poll():
                client = self._clients.get(descriptor)
                if client is None:
                    self._accept()
                else:
                    self._read(descriptor, client)

    def _accept(self) -> None:
        accepted, _ = self._listener.accept()
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._clients[accepted.fileno()] = Client(accepted)
        self._poll.register(accepted.fileno(), select.EPOLLIN)

    def _read(self, descriptor: int, client: Client) -> None:
        try:
            data = client.socket.recv(READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self._poll.unregister(descriptor)
            client.socket.close()
            del self._clients[descriptor]
            self._ready.pop(descriptor, None)
            return
        client.received += data
        while self._take(descriptor, client):
            pass

    def _take(self, descriptor: int, client: Client) -> bool:
        """One message of the client; false when it is not all there."""
        if client.upgraded:
            return self._take_frame(descriptor, client)
        head, end, rest = client.received.partition(HEAD_END)
        if not end:
            return False
        if head.startswith(b"GET"):
            client.upgraded, client.received = True, rest
            client.socket.send(UPGRADED + HELLO)
            return True
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(rest) < length:
            return False
        client.received = rest[length:]
        client.socket.send(ANSWERED)
        self._publish(rest[:length])
        return True

    def _take_frame(self, descriptor: int, client: Client) -> bool:
        received = client.received
        if len(received) < 6:
            return False
        length, start = received[1] & 127, 6
        if length == 126:
            length, start = int.from_bytes(received[2:4], "big"), 8
        if len(received) < start + length:
            return False
        client.received = received[start + length :]
        # The load generator's mask is zero.
        op = json.loads(received[start : start + length])["op"]
        if op == Opcode.HEARTBEAT:
            client.socket.send(ACKNOWLEDGED)
        elif op == Opcode.IDENTIFY:
            client.sequence = 1
            self._ready[descriptor] = client
            client.socket.send(READY)
        return True

    def _publish(self, body: bytes) -> None:
        body = b',"d":' + body
        suffix = body + b" " * (self._frame_bytes - len(PREFIX) - len(body) - 9) + b"}"
        head, head_digits = b"", 0
        for client in self._ready.values():
            client.sequence += 1
            digits = b"%d" % client.sequence
            if len(digits) != head_digits:
                head_digits = len(digits)
                head = frame_header(TEXT, len(PREFIX) + head_digits + len(suffix)) + PREFIX
            client.socket.send(head + digits + suffix)


def main(frame_bytes: int) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener:
        os.write(1, b"%s\n" % json.dumps({"port": listener.getsockname()[1]}).encode())
        Floor(listener, frame_bytes).run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
