"""The program reads some of its own modules as text: the one-file program carries the sources of those.
Area: packaging."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

SPEC = Path(__file__).parents[2] / ".ci" / "binary" / "chat.spec"

READ_ALL = """
import inspect, json, sys

known, read = inspect.getsource, set()
inspect.getsource = lambda module: (read.add(module.__name__), known(module))[1]

from chat.manual.opening import MADE, _document, open_manual

for source in MADE:
    source.markdown()
open_manual().asyncapi  # made when it is asked for
_document()
json.dump(sorted(read), sys.stdout)
"""
"""In a process of its own, since what was read is kept."""


def test_every_module_that_is_read_as_text_is_carried_as_text() -> None:
    made = subprocess.run([sys.executable, "-c", READ_ALL], check=True, capture_output=True, timeout=120)
    read = json.loads(made.stdout)
    [listed] = re.findall(r'name: "pyz\+py" for name in \(([^)]*)\)', SPEC.read_text(encoding="utf-8"))
    carried = tuple(re.findall(r'"([\w.]+)"', listed))
    assert [name for name in read if not name.startswith(tuple(f"{package}." for package in carried))] == []
    assert {package for package in carried if any(name.startswith(f"{package}.") for name in read)} == {*carried}
