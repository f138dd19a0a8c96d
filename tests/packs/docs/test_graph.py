"""Walking the document graph: A links to B, B to C, A to D, and E to A."""

import apsw
import pytest
from databases import save, with_pages
from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.docs import graph, queries, writes
from ubp.packs.docs.kinds import LINK_TYPES
from ubp.packs.docs.queries import Edge

CHAIN = {
    "a.md": "# A\n\n[[b|depends_on]] [[d]]",
    "b.md": "# B\n\n[[c|implements]]",
    "c.md": "# C",
    "d.md": "# D",
    "e.md": "# E\n\n[[a|extends]]",
    "f.md": "# F\n\nalone, but [[missing]]",
}


def around(
    db: apsw.Connection, path: str, depth: int, *link_types: str
) -> list[tuple[str, int, str, str]]:
    """Title, depth, type and direction of each page around the one at *path*."""
    center = queries.page_at(db, path).id
    reached = graph.around(db, center, depth, link_types or None)
    return [(each.page.title, *each[1:]) for each in reached]


def titles(
    db: apsw.Connection, path: str, depth: int, direction: str, *link_types: str
) -> set[str]:
    found = around(db, path, depth, *link_types)
    return {title for title, _, _, way in found if way == direction}


@pytest.fixture(scope="module")
def chain() -> apsw.Connection:
    return with_pages(CHAIN)


@pytest.mark.parametrize(
    ("path", "depth", "forward", "backward"),
    [
        ("a.md", 1, {"B", "D"}, {"E"}),
        ("a.md", 2, {"B", "C", "D"}, {"E"}),
        ("b.md", 1, {"C"}, {"A"}),
        ("b.md", 2, {"C"}, {"A", "E"}),
        ("c.md", 3, set(), {"B", "A", "E"}),
        ("e.md", 1, {"A"}, set()),
        ("e.md", 3, {"A", "B", "C", "D"}, set()),
        ("f.md", 3, set(), set()),
    ],
)
def test_pages_are_reached_along_and_against_links(
    chain: apsw.Connection,
    path: str,
    depth: int,
    forward: set[str],
    backward: set[str],
) -> None:
    assert titles(chain, path, depth, "outlink") == forward
    assert titles(chain, path, depth, "backlink") == backward


def test_pages_come_by_depth_then_title(chain: apsw.Connection) -> None:
    assert around(chain, "a.md", 2) == [
        ("B", 1, "depends_on", "outlink"),
        ("D", 1, "references", "outlink"),
        ("E", 1, "extends", "backlink"),
        ("C", 2, "implements", "outlink"),
    ]


def test_pages_that_only_share_a_target_are_no_neighbours(
    chain: apsw.Connection,
) -> None:
    assert titles(chain, "d.md", 3, "outlink") == set()
    assert titles(chain, "d.md", 3, "backlink") == {"A", "E"}


@pytest.mark.parametrize(
    ("link_types", "reached"),
    [
        (["depends_on"], {"B"}),
        (["depends_on", "implements"], {"B", "C"}),
        (["implements"], set()),
        (["references"], {"D"}),
        (["conflicts_with"], set()),
    ],
)
def test_link_types_hold_for_every_step_of_a_path(
    chain: apsw.Connection, link_types: list[str], reached: set[str]
) -> None:
    assert titles(chain, "a.md", 3, "outlink", *link_types) == reached


def test_cycle_ends_and_leaves_the_center_out() -> None:
    db = with_pages({"a.md": "# A\n\n[[b]] [[a]]", "b.md": "# B\n\n[[a]] [[b]]"})

    assert around(db, "a.md", 3) == [("B", 1, "references", "outlink")]


def test_smaller_depth_wins_over_the_direction() -> None:
    db = with_pages(
        {"a.md": "# A\n\n[[b]]", "b.md": "# B\n\n[[c]]", "c.md": "# C\n\n[[a]]"}
    )

    assert around(db, "a.md", 3) == [
        ("B", 1, "references", "outlink"),
        ("C", 1, "references", "backlink"),
    ]


def test_page_has_its_smallest_depth() -> None:
    db = with_pages(
        {
            "a.md": "# A\n\n[[b]] [[d|extends]]",
            "b.md": "# B\n\n[[c]]",
            "c.md": "# C\n\n[[d]]",
            "d.md": "# D",
        }
    )

    assert ("D", 1, "extends", "outlink") in around(db, "a.md", 3)


def test_first_of_several_links_to_a_page_says_its_type() -> None:
    db = with_pages({"a.md": "# A\n\n[[b|extends]] [[b|depends_on]]", "b.md": "# B"})

    assert around(db, "a.md", 1) == [("B", 1, "extends", "outlink")]


def test_dense_graph_is_walked_once() -> None:
    names = [f"p{number}" for number in range(40)]
    links = " ".join(f"[[{name}]]" for name in names)
    db = with_pages({f"{name}.md": links for name in names})

    assert len(around(db, "p0.md", 5)) == 39


def test_all_edges_are_the_links_that_resolve(chain: apsw.Connection) -> None:
    assert len(queries.all_pages(chain)) == 6
    assert len(queries.all_edges(chain)) == 4


def test_edges_among_pages_have_both_ends_there(chain: apsw.Connection) -> None:
    a, b, c = (queries.page_at(chain, f"{name}.md").id for name in "abc")

    assert queries.edges_among(chain, [a, b, c]) == [
        Edge(a, b, "depends_on"),
        Edge(b, c, "implements"),
    ]
    assert queries.edges_among(chain, [a, c]) == []


names = st.sampled_from("abcde")


@given(
    st.lists(st.tuples(names, names, st.sampled_from(LINK_TYPES)), max_size=12),
    st.integers(1, 4),
    st.none() | st.sets(st.sampled_from(LINK_TYPES), min_size=1, max_size=3),
)
def test_walk_reaches_exactly_what_steps_in_one_direction_do(
    edges: list[tuple[str, str, str]], depth: int, link_types: set[str] | None
) -> None:
    texts = dict.fromkeys("abcde", "")
    for source, target, type_ in edges:
        texts[source] += f"[[{target}|{type_}]] "
    db = with_pages({f"{name}.md": text for name, text in texts.items()})

    found = {
        reached.page.path[0]: reached.depth
        for reached in graph.around(
            db, queries.page_at(db, "a.md").id, depth, link_types
        )
    }

    wanted = [edge[:2] for edge in edges if not link_types or edge[2] in link_types]
    expected: dict[str, int] = {}
    for steps in (wanted, [(target, source) for source, target in wanted]):
        here = {"a"}
        for hops in range(1, depth + 1):
            here = {target for source, target in steps if source in here}
            for name in here - {"a"}:
                expected[name] = min(hops, expected.get(name, hops))
    assert found == expected


def test_type_of_a_link_does_not_depend_on_which_page_was_saved_last() -> None:
    pages = {
        "a.md": "[[b]] [[c]]",
        "b.md": "[[d|depends_on]]",
        "c.md": "[[d|implements]]",
        "d.md": "The end.",
    }
    db = with_pages(pages)
    [center] = [p.id for p in queries.all_pages(db) if p.path == "a.md"]

    def types() -> dict[str, str]:
        return {each.page.path: each.link_type for each in graph.around(db, center, 2)}

    before = types()
    save(db, "b.md", "[[d|depends_on]] again")
    writes.settle(db)

    assert before["d.md"] == "depends_on"
    assert types() == before
