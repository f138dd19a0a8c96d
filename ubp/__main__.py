"""``python -m ubp``: the same as the ``ubp`` command."""

from ubp.cli import main

if __name__ == "__main__":
    main()
