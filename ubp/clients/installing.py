"""Puts the server into the settings of a client, and takes it out again."""

import os
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ubp.clients import receipts
from ubp.clients.catalogue import Place
from ubp.clients.jsonc import Document, NotJson, parse
from ubp.clients.launching import Launch, root_of
from ubp.clients.receipts import Receipt
from ubp.clients.settings_file import SettingsFile, read, refused
from ubp.errors import ClientSettingsError

__all__ = ("Change", "entry_root", "planned_install", "planned_removal")

Action = Literal["added", "updated", "unchanged", "removed", "absent"]


class Change(Struct, frozen=True):
    """What is to happen to a settings file, or has happened."""

    action: Action
    file: SettingsFile
    keys: tuple[str, ...]
    after: str | None
    """What the file is to hold; None if there is to be none."""
    receipt: Receipt | None = None

    @property
    def changes(self) -> bool:
        return self.action in {"added", "updated", "removed"}

    @property
    def before(self) -> str:
        return self.file.document.text

    def carry_out(self) -> None:
        """Write it.

        Raises:
            ClientSettingsError: It cannot be written, or somebody else just did.
        """
        if self.action == "removed":
            self._remove()
        elif self.changes:
            self._write()

    def _write(self) -> None:
        file, keys = self.file, self.keys
        earlier = receipts.find(file.path, keys)
        try:
            if self.receipt is not None:
                _make_folders(file.path, self.receipt.made_folders)
                receipts.keep(file.path, keys, self.receipt)
            if earlier is None:  # the backup is of the time before the first
                file.back_up()
            file.write(self.after or "")
        except ClientSettingsError:
            self._forget_attempt(earlier)
            raise
        if self.receipt is None:
            receipts.drop(file.path, keys)

    def _forget_attempt(self, earlier: Receipt | None) -> None:
        """Nothing was installed, so nothing of it stays."""
        if earlier is not None:
            receipts.keep(self.file.path, self.keys, earlier)
            return
        receipts.drop(self.file.path, self.keys)
        self.file.drop_backup_of(self.file.content)
        _remove_folders(self.receipt)

    def _remove(self) -> None:
        file = self.file
        if self.after is None:
            file.delete()
        else:
            file.write(self.after)
        if self.after is not None:
            file.drop_backup_of(file.encoded(self.after))
        _remove_folders(self.receipt)
        receipts.drop(file.path, self.keys)


def planned_install(place: Place, name: str, launch: Launch) -> Change:
    """What installing would do.

    Raises:
        ClientSettingsError: The settings cannot be used, or *name* is taken.
    """
    file, keys, found = _found(place, name)
    wanted = place.client.entry(launch)
    if found is None:
        return _added(place, file, keys, wanted)
    root = root_of(launch.args)
    if not _is_at(entry_root(found), root):
        raise _taken(place, name, found, root or "")
    if _is_as_wanted(found, launch):
        return Change("unchanged", file, keys, file.document.text)
    receipt = receipts.find(file.path, keys)
    original = receipt.undone(file.document.text) if receipt else None
    if receipt is None or original is None:
        return _updated(place, file, keys, wanted)
    # Nobody has touched what we wrote: it is written anew.
    document = _parsed(place, original)
    edit = document.adding(keys, wanted)
    text = edit.of(original)
    _check(place, text, keys, wanted)
    renewed = Receipt(
        original[edit.start : edit.end],
        edit.new,
        receipt.made_file,
        receipt.made_folders,
    )
    return Change("updated", file, keys, text, renewed)


def planned_removal(place: Place, name: str, root: Path) -> Change:
    """What removing the server of the project at *root* would do.

    Raises:
        ClientSettingsError: The settings cannot be used, or *name* is another's.
    """
    file, keys, found = _found(place, name)
    if found is None:
        after = None if file.content is None else file.document.text
        return Change("absent", file, keys, after)
    other = entry_root(found)
    is_another = not _is_at(other, str(root))
    if other is None or (is_another and Path(other).exists()):
        raise _taken(place, name, found, str(root))
    text = file.document.text
    plainly = file.document.removing(keys).of(text)
    _check(place, plainly, keys, None)
    receipt = receipts.find(file.path, keys)
    original = receipt.undone(text) if receipt else None
    if receipt is None or original is None or not _same(place, original, plainly):
        return Change("removed", file, keys, plainly)
    is_gone = receipt.made_file and not original
    return Change("removed", file, keys, None if is_gone else original, receipt)


def entry_root(entry: Any) -> str | None:
    """The project that an entry of the settings serves; None if it is not ours."""
    args = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(args, list) or "serve" not in args:
        return None
    return root_of(tuple(str(each) for each in args))


def _is_at(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return False
    return os.path.realpath(one) == os.path.realpath(other)


def _found(place: Place, name: str) -> tuple[SettingsFile, tuple[str, ...], Any]:
    file = read(place.file, comments=place.client.comments)
    keys = (*place.keys, name)
    try:
        return file, keys, file.document.get(keys)
    except NotJson as error:
        raise refused(place.file, f"{error}.") from error


def _added(
    place: Place, file: SettingsFile, keys: tuple[str, ...], wanted: dict[str, Any]
) -> Change:
    before = file.document.text
    edit = file.document.adding(keys, wanted)
    text = edit.of(before)
    _check(place, text, keys, wanted)
    folders = tuple(str(folder) for folder in file.path.parents if not folder.is_dir())
    made_file = file.content is None
    receipt = Receipt(before[edit.start : edit.end], edit.new, made_file, folders)
    return Change("added", file, keys, text, receipt)


def _updated(
    place: Place, file: SettingsFile, keys: tuple[str, ...], wanted: dict[str, Any]
) -> Change:
    """Only how it is started changes; a person may have added an environment."""
    text = file.document.text
    for key in ("command", "args"):
        document = _parsed(place, text)
        path = (*keys, key)
        had = document.get(path) is not None
        change = document.replacing if had else document.adding
        text = change(path, wanted[key]).of(text)
        _check(place, text, path, wanted[key])
    return Change("updated", file, keys, text)


def _is_as_wanted(found: dict[str, Any], launch: Launch) -> bool:
    """Whether it starts us, shared; a person may have added options."""
    args = tuple(str(each) for each in found["args"])
    written = Launch(str(found.get("command")), args)
    return written.starts_the_same(launch) and "--shared" in args


def _parsed(place: Place, text: str) -> Document:
    return parse(text, comments=place.client.comments)


def _check(place: Place, text: str, keys: tuple[str, ...], wanted: Any) -> None:
    """We write nothing that we would not read as meant."""
    try:
        if _parsed(place, text).get(keys) == wanted:
            return
    except NotJson:
        pass
    raise refused(place.file, "It is written in a way we do not dare to edit.")


def _same(place: Place, one: str, other: str) -> bool:
    """Whether two texts mean the same, but for what is empty where servers are."""
    values = []
    for text in (one, other):
        value = _parsed(place, text).value
        _prune(value, place.keys)
        values.append(value)
    return values[0] == values[1]


def _prune(value: dict[str, Any], keys: tuple[str, ...]) -> None:
    inner = value.get(keys[0]) if keys else None
    if isinstance(inner, dict):
        _prune(inner, keys[1:])
        if not inner:
            del value[keys[0]]


def _make_folders(file: Path, folders: tuple[str, ...]) -> None:
    try:
        for folder in reversed(folders):
            Path(folder).mkdir(exist_ok=True)
    except OSError as error:
        raise refused(file, f"Its folder cannot be made: {error.strerror}.") from error


def _remove_folders(receipt: Receipt | None) -> None:
    for folder in receipt.made_folders if receipt else ():
        try:
            Path(folder).rmdir()
        except OSError:  # not made after all, or somebody has put something there
            return


def _taken(place: Place, name: str, entry: Any, root: str) -> ClientSettingsError:
    other = entry_root(entry)
    cause = f"It serves {other}." if other else "It was not written by ubp install."
    own = f"{name}-{Path(root).name}"
    return ClientSettingsError(
        f"{place.client.title} has another server named {name!r}.",
        cause=f"{cause} See {place.file}.",
        hint=f"Use another name for this project, as in --name {own}.",
    )
