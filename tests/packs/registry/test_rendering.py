from contributions import change, full_pattern, full_procedure, trace

from ubp.packs.registry.rendering import few_shot


def test_a_trace_is_one_line_for_each_step() -> None:
    unit = change(trace(), "steps.1.output_summary", "42 rows")

    assert few_shot(unit).splitlines() == [
        "Task: Check the monthly figures",
        "[THOUGHT] Look at the figures.",
        "[TOOL_CALL] 42 rows",
        "[OBSERVATION] The figures agree.",
        "Result: All figures agree.",
    ]


def test_a_step_that_says_nothing_is_still_a_line() -> None:
    assert "[TOOL_CALL]" in few_shot(trace()).splitlines()


def test_a_pattern_shows_its_steps_with_mode_and_tools() -> None:
    assert few_shot(full_pattern()).splitlines() == [
        "Pattern: Fetch and compare",
        "Fetch two sources and compare them.",
        "1. fetch (parallel, if always): fetch, sort, join",
    ]


def test_a_procedure_shows_its_steps_with_instructions() -> None:
    lines = few_shot(full_procedure()).splitlines()

    assert lines[:5] == [
        "Procedure: Answer a complaint (domain: support)",
        "1. read 0: Read the letter.",
        "   - criterion tone: calm",
        "   - if angry: call back within 30 min",
        "   - tool crm: the customer is known",
    ]
