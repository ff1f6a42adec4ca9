"""An export that is refused leaves no file open."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from chat.errors import OperatorError
from chat.imports import export_files
from chat.imports.export_files import open_export
from tests.imports.discord_world import packed
from tests.imports.zulip_maker import as_tar

Spoil = Callable[[bytes], bytes]

SPOILT: Final[dict[str, tuple[Callable[[Path, Path], Path], str, Spoil | None]]] = {
    "broken tar": (as_tar, "export.tar.gz", lambda whole: whole[: len(whole) // 2]),
    "broken ZIP": (packed, "export.zip", lambda whole: whole[:-20] + bytes(20)),
    "tar with too many files": (as_tar, "export.tar.gz", None),
    "ZIP with too many files": (packed, "export.zip", None),
}
"""How the archive is made, its name, and what is done to it; None leaves it whole, and too large by a file."""


@pytest.mark.parametrize("kind", SPOILT)
def test_what_is_refused_is_closed(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archived, name, spoilt = SPOILT[kind]
    folder = tmp_path / "export"
    folder.mkdir()
    for file in ("one.json", "two.json"):
        (folder / file).write_text("[]")
    path = archived(folder, tmp_path / name)
    if spoilt is None:
        monkeypatch.setattr(export_files, "FILES_MAXIMUM", 1)
    else:
        path.write_bytes(spoilt(path.read_bytes()))
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        with pytest.raises(OperatorError):
            open_export(path)
        gc.collect()
    assert [str(complaint.message) for complaint in complaints] == []
