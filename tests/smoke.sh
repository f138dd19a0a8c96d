#!/bin/sh
# Build the wheel and the sdist, install each alone in a clean environment, and use them.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac

# The builder is a tool of its own, in an environment of its own.
"$python" -m venv "$work/builder"
"$work/builder/bin/python" -m pip install --quiet "hatchling>=1.27"
(cd "$here" && "$work/builder/bin/python" -m hatchling build -t sdist -d "$work/sdist")
(cd "$here" && "$work/builder/bin/python" -m hatchling build -t wheel -d "$work/wheel")
# What an sdist lacks is missed by the wheel that is made from it.
"$python" -m pip wheel --quiet --no-deps --wheel-dir "$work/again" "$work"/sdist/ubp-*.tar.gz

names() { "$python" -m zipfile -l "$1" | awk 'NR > 1 { print $1 }' | sort; }
names "$work"/wheel/ubp-*.whl > "$work/names"
names "$work"/again/ubp-*.whl | diff "$work/names" -

use() (  # a wheel, and the name of a folder for it; pip keeps its own cache
    "$python" -m venv "$work/$2"
    "$work/$2/bin/python" -m pip install --quiet -c "$here/constraints.txt" "$1"
    rm -rf "$work/vault"
    cp -r "$here/examples/vault" "$work/vault"
    cd "$work"
    export XDG_CACHE_HOME="$work/$2-cache"  # as on a machine that has never seen a model
    "$work/$2/bin/ubp" --help > /dev/null
    "$work/$2/bin/ubp" index --root vault  # by words; says how to get the model
    "$work/$2/bin/ubp" model pull
    "$work/$2/bin/ubp" index --root vault
    "$work/$2/bin/ubp" search "who is next in line" --root vault --limit 1 | grep "(hybrid)"
    "$work/$2/bin/ubp" search "hold queue" --root vault --limit 1
    "$work/$2/bin/ubp" search 認証 --root vault --limit 1
    "$work/$2/bin/ubp" doctor --root vault
)

use "$(echo "$work"/wheel/ubp-*.whl)" wheel-venv
use "$(echo "$work"/again/ubp-*.whl)" sdist-venv
echo "smoke: fine"
