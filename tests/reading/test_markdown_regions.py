from hypothesis import given
from hypothesis import strategies as st

from ubp.reading.markdown_regions import is_inside, regions


def test_fences_inline_code_and_tables_are_found_in_characters() -> None:
    text = "日本語 `コード`\n\n```py\n値 = 1\n```\n\n| 表 | b |\n|---|---|\n| 1 | 2 |\n"

    found = regions(text)

    [fence] = found.fences
    assert text[slice(*fence)].startswith("```py\n値 = 1\n```")
    assert text[slice(*found.code[0])] == "`コード`"
    [table] = found.tables
    assert text[slice(*table)].startswith("| 表 | b |")


def test_indented_code_is_code_but_no_fence() -> None:
    found = regions("Text.\n\n    indented\n")

    assert len(found.code) == 1
    assert found.fences == ()


def test_a_fence_inside_a_list_is_a_fence() -> None:
    text = "- item\n\n  ```\n  code\n  ```\n"

    [fence] = regions(text).fences

    assert "code" in text[slice(*fence)]


def test_a_place_is_inside_from_the_first_character_to_the_last() -> None:
    text = "a `b` c `d` e"
    code = regions(text).code

    inside = "".join(char for at, char in enumerate(text) if is_inside(at, code))

    assert inside == "`b``d`"


@given(st.text(alphabet=st.sampled_from("`~ \n|-a日😀>*<!")))
def test_regions_lie_within_the_text_and_in_order(text: str) -> None:
    for kind in regions(text):
        ends = [place for region in kind for place in region]
        assert all(0 <= place <= len(text) for place in ends)
        assert ends == sorted(ends)
