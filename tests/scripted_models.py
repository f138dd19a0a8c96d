"""Embedding processes that do as they are told: for what a real model cannot be made to.

The child speaks the real frames. What it does with a text stands in the text: a body with
``kill`` ends it, one with ``refuse`` is refused, one with ``once:FILE`` ends it unless
that file exists, which it makes first, and one with ``wait:FILE`` waits for the file. Files
are beside the model's. Any other text has a vector made of its length.
"""

import sys
from pathlib import Path

import pytest
from models import tiny_model

from ubp.actors.embedding_child import Job
from ubp.embedding.models import Model
from ubp.project import Project

__all__ = ("job_by_path", "scripted", "scripted_model", "starts")

SCRIPT = """
import os, sys, time
from pathlib import Path
import msgspec
import numpy as np
from ubp.actors.embedding_child import (
    Embed, Job, Loaded, NotLoaded, Refused, Vectors
)
from ubp.actors.frames import read_frame, write_frame

def say(message):
    write_frame(sys.stdout.buffer, msgspec.msgpack.encode(message))

def beside(name):
    return Path(job.path).with_name(name.split()[0])

def vector(text):
    body = text.body
    if "kill" in body:
        os._exit(1)
    if "refuse" in body:
        return None
    if "once:" in body:
        mark = beside(body.split("once:")[1])
        if not mark.exists():
            mark.touch()
            os._exit(1)
    if "wait:" in body:
        mark = beside(body.split("wait:")[1])
        while not mark.exists():
            time.sleep(0.01)
    return np.array([len(body), 1, 1, 1], np.float32)

job = msgspec.json.decode(sys.argv[1], type=Job)
with open(Path(job.path).with_suffix(".starts"), "a") as starts:
    starts.write("start\\n")
if "unusable" in Path(job.path).name:
    say(NotLoaded("It cannot be used.", "So it is.", "Do not."))
    sys.exit()
if "silent" in Path(job.path).name:
    sys.exit()
say(Loaded(4))
while (frame := read_frame(sys.stdin.buffer)) is not None:
    request = msgspec.msgpack.decode(frame, type=Embed)
    found = [vector(text) for text in request.texts]
    if any(each is None for each in found):
        say(Refused(request.number, "It would rather not."))
        continue
    values = b"".join(each.tobytes() for each in found)
    say(Vectors(request.number, (1,) * len(found), values))
"""


def scripted(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have every embedding process started from now on be one of these."""
    interpreter = folder / "python"
    module = folder / "scripted_child.py"
    module.write_text(SCRIPT, encoding="utf-8")
    # They are started as ``python -P -m ubp.actors.embedding_child job``.
    interpreter.write_text(
        "#!/bin/sh\n"
        'if [ "$3" = ubp.actors.embedding_child ]; then\n'
        f'    exec {sys.executable} {module} "$4"\n'
        "fi\n"
        f'exec {sys.executable} "$@"\n',
        encoding="utf-8",
    )
    interpreter.chmod(0o755)
    patch.setattr(sys, "executable", str(interpreter))


def starts(path: Path) -> int:
    """How often a process was started for the model at *path*."""
    noted = path.with_suffix(".starts")
    return len(noted.read_text("utf-8").splitlines()) if noted.exists() else 0


def scripted_model(path: Path) -> Model:
    """A model whose process notes its starts beside *path*."""
    tiny_model(path, dimension=4)
    return Model(
        name=path.stem,
        summary="",
        languages=("en",),
        licence="",
        dimension=None,
        window=64,
        size=0,
        path=str(path),
    )


def job_by_path(model: Model, project: Project, identity: str) -> Job:
    """In place of ``job_for``: nothing is looked for, nothing is made."""
    del project, identity
    return Job(
        path=model.path,
        tokenizer="",
        window=model.window,
        pooling=None,
        query_prefix="",
        passage_prefix="",
        languages=model.languages,
        threads=1,
        niceness=0,
    )
