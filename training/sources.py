"""Where the English-Japanese text comes from: packages, each with its licence.

Packages named here are whole manuals in both languages. Beside them every package of
the archive is taken that carries a Japanese message catalogue, help or manual page and
is small enough; those are found through the archive's own index of files, and their
licences are read from the packages as they are unpacked.
"""

import re
from dataclasses import dataclass

__all__ = (
    "FORBIDDEN",
    "LARGE_PACKAGES",
    "MANUALS",
    "NPM",
    "Manual",
    "is_forbidden",
    "is_japanese_catalogue",
    "is_japanese_help",
    "is_japanese_manual_page",
    "is_wanted",
)


@dataclass(frozen=True, kw_only=True)
class Manual:
    """A document that exists in both languages."""

    name: str
    what: str
    licence: str
    packages: tuple[str, ...]


MANUALS = (
    Manual(
        name="gimp-help",
        what="user manual of GIMP",
        licence="GFDL-1.2+, no invariant sections",
        packages=("gimp-help-en", "gimp-help-ja"),
    ),
    Manual(
        name="debian-handbook",
        what="The Debian Administrator's Handbook",
        licence="CC-BY-SA-3.0 or GPL-2+",
        packages=("debian-handbook",),
    ),
    Manual(
        name="debian-reference",
        what="Debian Reference",
        licence="GPL-2+",
        packages=("debian-reference-en", "debian-reference-ja"),
    ),
    Manual(
        name="edict",
        what="EDICT, a Japanese-English dictionary",
        licence="CC-BY-SA-3.0 (EDRDG licence, to be named)",
        packages=("edict",),
    ),
    Manual(
        name="libreoffice",
        what="messages and help of LibreOffice",
        licence="MPL-2.0",
        packages=(
            "libreoffice-l10n-ja",
            "libreoffice-help-ja",
            "libreoffice-help-en-us",
        ),
    ),
    Manual(
        name="apache",
        what="documentation of the Apache HTTP server",
        licence="Apache-2.0",
        packages=("apache2-doc",),
    ),
    Manual(
        name="installation-guide",
        what="Debian installation guide",
        licence="GPL-2",
        packages=("installation-guide-amd64",),
    ),
    Manual(
        name="developers-reference",
        what="Debian developers' reference",
        licence="GPL-2+",
        packages=("developers-reference", "developers-reference-ja"),
    ),
    Manual(
        name="maint-guide",
        what="Debian new maintainers' guide",
        licence="GPL-2+",
        packages=("maint-guide", "maint-guide-ja"),
    ),
    Manual(
        name="debmake-doc",
        what="guide for Debian maintainers",
        licence="Expat",
        packages=("debmake-doc",),
    ),
    Manual(
        name="debian-faq",
        what="the Debian FAQ",
        licence="verbatim and modified copies under the same notice",
        packages=("debian-faq", "debian-faq-ja"),
    ),
    Manual(
        name="debian-policy",
        what="Debian policy manual",
        licence="GPL-2+",
        packages=("debian-policy", "debian-policy-ja"),
    ),
    Manual(
        name="debian-history",
        what="a brief history of Debian",
        licence="GPL-2+",
        packages=("debian-history",),
    ),
    Manual(
        name="debian-edu",
        what="Debian Edu manual",
        licence="GPL-2+",
        packages=("debian-edu-doc-en", "debian-edu-doc-ja"),
    ),
    Manual(
        name="harden-doc",
        what="Securing Debian manual",
        licence="GPL-2+",
        packages=("harden-doc",),
    ),
    Manual(
        name="apt-doc",
        what="guides of apt",
        licence="GPL-2, GPL-2+",
        packages=("apt-doc",),
    ),
    Manual(
        name="aptitude-doc",
        what="manual of aptitude",
        licence="GPL-2+",
        packages=("aptitude-doc-en", "aptitude-doc-ja"),
    ),
    Manual(
        name="live-manual",
        what="manual of Debian Live",
        licence="GPL-3+",
        packages=("live-manual-html",),
    ),
    Manual(
        name="gnucash-docs",
        what="guide and help of GnuCash",
        licence="GFDL-1.1+ or GPL-2+",
        packages=("gnucash-docs",),
    ),
    Manual(
        name="lilypond",
        what="documentation of LilyPond",
        licence="GFDL-1.3+",
        packages=("lilypond-doc-html", "lilypond-doc-html-ja"),
    ),
    Manual(
        name="groonga",
        what="documentation of the full-text search engine Groonga",
        licence="LGPL-2.1",
        packages=("groonga-doc",),
    ),
    Manual(
        name="kicad",
        what="manuals of KiCad",
        licence="GPL-3+",
        packages=("kicad-doc-en", "kicad-doc-ja"),
    ),
    Manual(
        name="weechat",
        what="manuals of WeeChat",
        licence="GPL-3+",
        packages=("weechat-doc",),
    ),
    Manual(
        name="logback",
        what="manual of the Java logging library Logback",
        licence="EPL-1.0 or LGPL-2.1",
        packages=("liblogback-java-doc",),
    ),
    Manual(
        name="omegat",
        what="manual of the translation tool OmegaT",
        licence="GPL-3+",
        packages=("omegat",),
    ),
    Manual(
        name="sylpheed",
        what="manual of the mail client Sylpheed",
        licence="GFDL-1.1, GPL-2+",
        packages=("sylpheed-doc",),
    ),
    Manual(
        name="tuxpaint",
        what="documentation of Tux Paint",
        licence="GPL-2+",
        packages=("tuxpaint-data",),
    ),
    Manual(
        name="electron",
        what="documentation of Electron, from the package electron-i18n of npm",
        licence="MIT",
        packages=("electron-i18n",),
    ),
)

NPM = ("electron-i18n",)
"""Packages of npm's registry; all others are Debian's."""

LARGE_PACKAGES = (
    "blender-data",
    "cataclysm-dda-data",
    "freeciv-data",
    "gimp-data",
    "gnome-devel-docs",
    "gnome-user-docs",
    "inkscape",
    "kicad",
    "linuxcnc-uspace",
    "mate-user-guide",
    "plasma-desktop-data",
    "plasma-workspace-data",
    "postgresql-15",
    "r-base-core",
    "scilab-data",
    "zabbix-frontend-php",
)
"""Above the limit for found packages, and worth it: thousands of sentences."""

FORBIDDEN = re.compile(
    r"kube|\bk8s|\bvue|vuejs|tldr|squad|jglue|scifact|cosqa|nl2bash|wikipedia"
    r"|unified.?blueprint|rust-web-doc|golang-doc|typescript",
    re.IGNORECASE,
)
"""Names of packages and folders that search quality is measured on, or near to it."""


def is_forbidden(name: str) -> bool:
    """Whether a package or folder may hold text that quality is measured with."""
    return FORBIDDEN.search(name) is not None


_CATALOGUE = re.compile(r"/ja(_JP)?(\.[Uu][Tt][Ff]-?8)?/LC_MESSAGES/[^/]+\.mo$")
_HELP = re.compile(r"^usr/share/help/ja/.*\.(page|docbook|xml)$")
_MANUAL_PAGE = re.compile(r"^usr/share/man/ja(\.UTF-8|_JP\.UTF-8)?/man\d")
_WANTED = re.compile(
    r"^usr/share/help/(ja|C)/.*\.(page|docbook|xml)$"
    r"|^usr/share/man/(ja(\.UTF-8|_JP\.UTF-8)?/)?man\d"
    r"|\.html?(\.\w+)*$"
    r"|/edict$"
    r"|^usr/share/doc/[^/]+/copyright$"
)


def is_japanese_catalogue(path: str) -> bool:
    """Whether a file of a package holds messages in Japanese."""
    return _CATALOGUE.search(path) is not None


def is_japanese_help(path: str) -> bool:
    """Whether a file of a package is a page of help in Japanese."""
    return _HELP.search(path) is not None


def is_japanese_manual_page(path: str) -> bool:
    """Whether a file of a package is a manual page in Japanese."""
    return _MANUAL_PAGE.search(path) is not None


def is_wanted(path: str) -> bool:
    """Whether a file of a package is worth unpacking."""
    return _WANTED.search(path) is not None or is_japanese_catalogue(path)
