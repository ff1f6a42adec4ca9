"""Where the program without Python begins. As Python does, it runs a module for `-m MODULE`: that is how image workers
and benches start processes of their own (`sys.executable`)."""

import os
import runpy
import ssl
import sys
from pathlib import Path

AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep the certificates that they trust: Debian, Fedora, SUSE, Alpine. The library in here looks
where the system on which it was built has them."""


def name_authorities() -> None:
    """Let TLS find the certificates of this system, or else those that came along."""
    found = ssl.get_default_verify_paths()
    if found.cafile is not None or "SSL_CERT_FILE" in os.environ:
        return
    for file in AUTHORITIES:
        if Path(file).exists():
            os.environ["SSL_CERT_FILE"] = file
            return
    import certifi

    os.environ["SSL_CERT_FILE"] = certifi.where()


name_authorities()
if sys.argv[1:2] == ["-m"] and len(sys.argv) > 2:
    module = sys.argv[2]
    del sys.argv[1:3]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
else:
    from chat.__main__ import main

    main()
