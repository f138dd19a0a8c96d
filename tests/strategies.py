"""Text as other people write it, for property tests."""

from hypothesis import strategies as st

__all__ = (
    "anything",
    "documents",
    "file_trees",
    "front_matter",
    "gitignores",
    "headings",
    "link_targets",
    "mixed",
    "page_paths",
    "pieces",
)

_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")

anything = st.text(_CHARACTERS)
"""Whatever a file may hold once it is decoded and its line ends are of one kind."""

_PIECES = (
    # English, with what people put between words.
    "SQLite index the Architecture endpoints quick ok I don't foo-bar snake_case a "
    "v1.2.3 x86_64 is_ready() col:value NEAR(a, b) test* AND OR NOT 100% \\ ' \" ^ <b> "
    "C++ C# f# c+ plus sharp ++ -- # @me a/b/c.md http://example.com/?q=1 e.g. … — × "
    # Words no index holds, and a word that just fits.
    f"{'a' * 64} {'a' * 65} {'deadbeef' * 10} x{'日' * 70} "
    # Japanese, in several widths and compositions.
    "認証フロー 認証 日本語 日本 本語 本 東京都 の を検索する データベース ガ カ\u3099 ｶﾞ "
    "ＡＰＩ １２３ 々 ー ・ 。 「引用」 𠮷野家 𠮷 ㍿ ① 〆切 ゟ Vue.jsの使い方 "
    # Other scripts, and characters that change when folded.
    "naïve cafe\u0301 straße ẞ ﬁle ﬃ İstanbul ΟΔΟΣ ὀδός ΐ Ǆ ½ 한국어 हिन्दी ไทย 🎉👍🏽"
).split(" ")

pieces = st.sampled_from(_PIECES)

mixed = st.lists(
    st.one_of(
        pieces,
        pieces,
        st.sampled_from(("", " ", " ", "\n", "\n\n", "\t", "、", "\u3000", "-", "_")),
        st.text(_CHARACTERS, max_size=3),
    ),
    max_size=14,
).map("".join)
"""Japanese and English in one text, with and without spaces."""

headings = mixed.map(lambda text: " ".join(text.split()))
"""One line, as the plain text of a heading is."""

_FENCE = "```python\nfirst = 1\n\n\n## no heading\n\nlast = 2\n```"

_BLOCKS = st.one_of(
    st.sampled_from(
        (
            "# One",
            "## Two *words*",
            "### Three [[x]]",
            "#### Four",
            "###### Six",
            "##",
            "#",
            "Title\n===",
            "Other\n---",
            "- item\n\n  more\n\n  ```\n  a\n\n  b\n  ```\n- ## no heading",
            "1. one\n2. two\n   > ## quoted",
            "> ## quoted\n>\n> text",
            _FENCE,
            f"{_FENCE[:-3]}never closed",
            "~~~\n\n~~~",
            "    code\n\n    more code",
            "<div>\n\ntext\n\n</div>",
            "<!-- ## a\n\ncomment -->",
            "| a | b |\n|---|---|\n| [[p\\|depends_on]] | c |",
            "[ref]: target.md 'title'",
            "[^1]: A note.\n\n    More of it.",
            "A[^1] and [text][ref], <other.md>.",
            "---",
            "***",
            "- [ ] task\n- [x] done",
            "[[page|depends_on]] [a](b.md) ![[image.png]] ![x](y.png)",
            "`[[code]]` \\[[no]] [[]] [[a#b|c]]",
            "\t\ttabs",
            "&amp; &#35; <b>bold</b>",
            "word " * 40,
            "単語" * 30,
        )
    ),
    mixed,
    anything,
    st.integers(1, 400).map(lambda count: "word " * count),
)

documents = st.lists(
    st.tuples(_BLOCKS, st.sampled_from(("\n\n", "\n\n", "\n", "\n\n\n", " ", ""))),
    max_size=12,
).map(lambda parts: "".join(block + gap for block, gap in parts))
"""Markdown, not always well formed."""

_YAML_LINES = st.one_of(
    st.sampled_from(
        (
            "title: A page",
            "title: 123",
            "title:",
            "doc_type: adr",
            "doc_type: [spec]",
            "tags: [a, 'b', 3]",
            "tags:\n  - one\n  - two",
            "source_refs:\n- src/a.py",
            "date: 2024-01-02",
            "draft: no",
            "ratio: 1.5e3",
            "big: 123456789012345678901",
            "when: 12:30:45",
            "octal: 0o17",
            "empty: ~",
            "anchor: &a [1, 2]",
            "alias: *a",
            "deep: {a: {b: [c, {d: e}]}}",
            "? complex\n: value",
            "? [a, b]\n: value",
            "text: |\n  several\n  lines",
            "folded: >-\n  several\n  lines",
            '"quoted": "\\u3042 \\x00"',
            "<<: {a: b}",
            "set: !!set {a, b}",
            "bytes: !!binary aGVsbG8=",
            "unknown: !thing {}",
            "%YAML 1.2",
            "# a comment",
            "- item",
            "\tkey: tab",
            "...",
            "---",
            "}",
        )
    ),
    anything,
)

front_matter = st.builds(
    lambda opening, lines, closing, body: opening + "\n".join(lines) + closing + body,
    st.sampled_from(("---\n", "---\n", "--- \t\n", "----\n", " ---\n", "")),
    st.lists(_YAML_LINES, max_size=6),
    st.sampled_from(("\n---\n", "\n---\n", "\n...\n", "\n---", "\n--- \n", "")),
    st.one_of(mixed, anything),
)
"""Files that mostly begin with a block of YAML, or something like it."""

_SEGMENTS = st.sampled_from(
    ("a", "b", "Guide", "guide", "設計", "a b", "x(1)", "index", "README", "notes.md")
)

page_paths = st.lists(_SEGMENTS, min_size=1, max_size=3).map(
    lambda segments: "/".join(segments) + ".md"
)
"""Paths of pages in the docs folder."""

_OF_TARGETS = (
    "a b .. . / / // .md .MD # ?q %20 %2e %ff %00 http: mailto: 設計 カ\u3099 \\ | :"
)

link_targets = st.one_of(
    st.lists(st.sampled_from([*_OF_TARGETS.split(), " "]), max_size=8).map("".join),
    anything,
)
"""Targets of links, from plain to hostile."""

_FOLDERS = ("a", "b", "docs", "設計", "c.d")
_FILES = ("x.md", "y.md", "a b.md", "設計.md", "#h.md", "!n.md", "[1].md", "a", "build")

_OF_PATTERNS = st.sampled_from(
    (
        *_FOLDERS,
        *("x.md", "設計.md", "\\#h.md", "\\!n.md", "\\[1\\].md", "#h.md", "!n.md"),
        *("*", "*", "**", "**", "*.md", "?.md", "a*", "*a*", "b**d", "*d", "???"),
        *(
            "[ab]",
            "[!a]",
            "[^a]*",
            "*[!b]*",
            "[a-c].d",
            "[xy].md",
            "[]x].md",
            ".",
            "..",
        ),
    )
)

_PATTERNS = st.builds(
    lambda again, lead, segments, tail: again + lead + "/".join(segments) + tail,
    st.sampled_from(("", "", "!")),
    st.sampled_from(("", "", "/")),
    st.lists(_OF_PATTERNS, min_size=1, max_size=3),
    st.sampled_from(("", "", "/", " ", "\r")),
)

gitignores = st.lists(
    st.one_of(_PATTERNS, _PATTERNS, st.sampled_from(("", "# x.md", "!", "/", "*/"))),
    max_size=6,
).map("\n".join)
"""Files of patterns as git knows them."""

_PLACES = st.lists(st.sampled_from(_FOLDERS), max_size=2).map(
    lambda names: "".join(f"{name}/" for name in names)
)

file_trees = st.builds(
    lambda files, rules, more: dict.fromkeys(files, "") | {".gitignore": rules} | more,
    st.lists(
        st.builds(str.__add__, _PLACES, st.sampled_from(_FILES)),
        min_size=5,
        max_size=20,
    ),
    gitignores,
    st.dictionaries(
        _PLACES.map(lambda place: f"{place}.gitignore"), gitignores, max_size=3
    ),
)
"""Files by path, some of them called ``.gitignore``. A file may be another's folder."""
