"""Certificates for tests: an authority, and what it signs."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY: Final = datetime.timedelta(days=1)


class Authority:
    """Signs certificates; clients that trust it are given `client_context`."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])
        self.certificate = self._signed(self._name, self._key, [], is_authority=True, days=3)

    def issue(self, folder: Path, *names: str, days: float = 90, stem: str = "server") -> tuple[Path, Path]:
        """A certificate for these names and addresses that ends in `days` days, and its key, as files in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        made = self._signed(subject, key, list(names), is_authority=False, days=days)
        certificate_file, key_file = folder / f"{stem}.pem", folder / f"{stem}.key"
        certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(_pem(key))
        return certificate_file, key_file

    def write(self, folder: Path) -> Path:
        """Its own certificate as a file."""
        file = folder / "authority.pem"
        file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return file

    def client_context(self) -> ssl.SSLContext:
        """Trusts this authority and no other."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, names: list[str], *, is_authority: bool, days: float
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=is_authority,
            crl_sign=is_authority,
            encipher_only=False,
            decipher_only=False,
        )
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 400 * DAY)
            .not_valid_after(now + days * DAY)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(signer, critical=False)
        )
        if names:
            alternatives = x509.SubjectAlternativeName([_name(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _pem(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption() if password is None else serialization.BestAvailableEncryption(password),
    )


def lock_behind_a_password(key_file: Path) -> None:
    """Write a key anew so that it needs a password."""
    key = serialization.load_pem_private_key(key_file.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    key_file.write_bytes(_pem(key, b"secret"))
