"""Budgets: which line counts, and when one is kept."""

from bench.budgets import budgets, judged
from bench.measured import Measured


def lines(ratio: float | None) -> list[Measured]:
    return [Measured(budget.line, 1.0, "ms", ratio) for budget in budgets()]


def test_every_budget_is_kept_below_it_and_not_above() -> None:
    assert all(result.kept for result in judged(lines(1.0)))
    assert not any(result.kept for result in judged(lines(100.0)))


def test_what_was_not_measured_is_not_kept() -> None:
    assert not any(result.kept for result in judged([]))
    assert not any(result.kept for result in judged(lines(None)))


def test_of_several_sizes_the_largest_counts() -> None:
    small = Measured("full text, 1,000 sections, p50", 1.0, "ms", 9.0)
    large = Measured("full text, 100,000 sections, p50", 1.0, "ms", 1.0)

    found = {result.budget.line: result for result in judged([small, large])}

    assert found["full text, p50"].line == large


def test_a_short_run_has_budgets_of_its_own_where_size_matters() -> None:
    for result in judged(lines(1.0), short=True):
        assert result.most >= result.budget.at_most


def test_a_line_of_the_same_name_that_is_not_compared_hides_none() -> None:
    lines = [
        Measured("full text, 100,000 sections, p50", 1, "ms", 2.0, "MATCH"),
        Measured("full text, 100,000 sections, p50", 3, "ms"),
    ]

    [found] = [each for each in judged(lines) if each.budget.line == "full text, p50"]

    assert found.kept
