"""Puts the server into the settings of a client, and takes it out again."""

import os
from collections.abc import Iterator
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

_DEEPEST = 3
"""As many objects are above an entry, in any client."""
_MOST_REWOUND = 4
"""Other projects in the same settings; with more, every order would take too long."""


class _Installed(Struct, frozen=True):
    """An entry of ours, of this project or another, and what it changed."""

    keys: tuple[str, ...]
    value: Any
    receipt: Receipt


class Change(Struct, frozen=True):
    """What is to happen to a settings file, or has happened."""

    action: Action
    file: SettingsFile
    keys: tuple[str, ...]
    after: str | None
    """What the file is to hold; None if there is to be none."""
    receipt: Receipt | None = None
    is_first: bool = True
    """Whether there is no other entry of ours in the file."""
    others: tuple[_Installed, ...] = ()
    """Entries of ours that were put in anew, for there to be nothing of this one."""

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
            if earlier is None and self.is_first:  # what was before any of ours
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
        for other in self.others:
            receipts.keep(file.path, other.keys, other.receipt)


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
    if receipt is None:
        return Change("removed", file, keys, plainly)
    others = _others(file, keys)[:_MOST_REWOUND]
    rewound = _rewound(place, text, _Installed(keys, found, receipt), others)
    if rewound is None:
        return Change("removed", file, keys, plainly)
    original, later = rewound
    after, again = _put_back(place, original, later, receipt)
    is_gone = receipt.made_file and not after
    return Change(
        "removed", file, keys, None if is_gone else after, receipt, others=again
    )


def _others(file: SettingsFile, besides: tuple[str, ...]) -> list[_Installed]:
    """The entries of other projects that we have put there."""
    found = []
    for keys, value in _entries(file.document.value, ()):
        receipt = receipts.find(file.path, keys) if keys != besides else None
        if receipt is not None:
            found.append(_Installed(keys, value, receipt))
    return found


def _entries(
    value: dict[str, Any], above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What could be entries of ours, wherever a client keeps such."""
    for key, inner in value.items():
        if entry_root(inner) is not None:
            yield (*above, key), inner
        elif isinstance(inner, dict) and len(above) < _DEEPEST:
            yield from _entries(inner, (*above, key))


def _rewound(
    place: Place, text: str, entry: _Installed, others: list[_Installed]
) -> tuple[str, list[_Installed]] | None:
    """*text* before *entry* came, and which of *others* came later, in their order.

    What came later may stand in the middle of what *entry* changed. None if somebody
    else has written there.
    """
    original = _undone(place, text, entry)
    if original is not None:
        return original, []
    for other in reversed(others):
        before = _undone(place, text, other)
        if before is not None:
            rest = [each for each in others if each is not other]
            rewound = _rewound(place, before, entry, rest)
            if rewound is not None:
                return rewound[0], [*rewound[1], other]
    return None


def _undone(place: Place, text: str, entry: _Installed) -> str | None:
    """*text* as it was before *entry*, if that means the same but for the entry."""
    original = entry.receipt.undone(text)
    if original is None:
        return None
    plainly = _parsed(place, text).removing(entry.keys).of(text)
    try:
        is_same = _same(place, original, plainly, entry.keys[:-1])
    except NotJson:  # others have come since, and rest on it
        return None
    return original if is_same else None


def _put_back(
    place: Place, text: str, entries: list[_Installed], first: Receipt
) -> tuple[str, tuple[_Installed, ...]]:
    """*text* with *entries*, and what each has now changed; *first* was before them."""
    again: list[_Installed] = []
    for each in entries:
        edit = _parsed(place, text).adding(each.keys, each.value)
        made = first if not again else None
        receipt = Receipt(
            text[edit.start : edit.end],
            edit.new,
            made is not None and made.made_file,
            made.made_folders if made is not None else (),
        )
        text = edit.of(text)
        _check(place, text, each.keys, each.value)
        again.append(_Installed(each.keys, each.value, receipt))
    return text, tuple(again)


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
    is_first = not _others(file, keys)
    return Change("added", file, keys, text, receipt, is_first)


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


def _same(place: Place, one: str, other: str, keys: tuple[str, ...]) -> bool:
    """Whether two texts mean the same, but for what is empty at *keys*."""
    values = []
    for text in (one, other):
        value = _parsed(place, text).value
        _prune(value, keys)
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
