#!/bin/sh
# Build the wheel, install it alone in a clean environment, and use it.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m pip wheel --quiet --no-deps --wheel-dir "$work/wheel" "$here"
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet -c "$here/constraints.txt" "$work"/wheel/ubp-*.whl
cp -r "$here/examples/vault" "$work/vault"
cd "$work"
export XDG_CACHE_HOME="$work/cache"  # as on a machine that has never seen a model
"$work/venv/bin/ubp" --help > /dev/null
"$work/venv/bin/ubp" index --root vault  # by words; says how to get the model
"$work/venv/bin/ubp" model pull
"$work/venv/bin/ubp" index --root vault
"$work/venv/bin/ubp" search "who is next in line" --root vault --limit 1 | grep "(hybrid)"
"$work/venv/bin/ubp" search "hold queue" --root vault --limit 1
"$work/venv/bin/ubp" search 認証 --root vault --limit 1
"$work/venv/bin/ubp" doctor --root vault
echo "smoke: fine"
