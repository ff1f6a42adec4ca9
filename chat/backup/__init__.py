"""Backups: a directory of many that share their files, how one is made beside a running server, checked and restored,
and when a server makes one (architecture.md, Backups)."""
