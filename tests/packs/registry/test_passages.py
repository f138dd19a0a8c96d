"""What of an item is searched by words, and what by meaning."""

from ubp.packs.registry.passages import digest_of, skill_texts, unit_texts


def test_a_skill_stands_for_what_it_is_for_and_is_found_by_all_of_its_words() -> None:
    body = "# Use\n\nMerge pages.\n\n## Steps\n\n" + "Then call the walrus.\n\n" * 200

    words, passage = skill_texts("pdf", "Work with PDF files.", body)

    assert "walrus" in words.body
    assert passage.head == "pdf"
    assert passage.body.split("\n") == [
        "Work with PDF files.",
        "Merge pages.",
        "Use",
        "Steps",
    ]
    changed = skill_texts("pdf", "Work with PDF files.", body + "One more.").passage
    assert digest_of(changed) == digest_of(passage)


def test_of_a_long_beginning_and_many_headings_only_the_first_count() -> None:
    body = "x" * 30_000 + "".join(f"\n\n# Heading {n}" for n in range(90))

    assert len(skill_texts("n", "d", body).passage.body) < 600
    many = "".join(f"# H{n}\n\n" for n in range(90))
    assert skill_texts("n", "d", many).passage.body.count("H") == 20


def test_of_a_unit_every_text_counts_but_those_about_it() -> None:
    unit = {
        "id": "kp:trace:1",
        "metadata": {"task_domain": "shipping"},
        "task": {"objective": "Pack it"},
        "steps": [{"content": "in a box"}],
    }

    words, passage = unit_texts("Packing", unit)

    assert words == passage
    assert passage.head == "Packing\nshipping"
    assert passage.body == "Pack it\nin a box"
