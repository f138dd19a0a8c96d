"""The variables of a URI template."""

import pytest

from ubp.resources import Template


@pytest.mark.parametrize(
    ("uri", "variables"),
    [
        ("ubp://docs/{+path}", ("path",)),
        ("kanban://{boardId}/cards/{cardId}", ("boardId", "cardId")),
        ("x://{a,b*}{?c:3}{#d}", ("a", "b", "c", "d")),
        ("x://plain", ()),
    ],
)
def test_a_template_knows_its_variables(uri: str, variables: tuple[str, ...]) -> None:
    assert Template(uri=uri, name="any").variables == variables
