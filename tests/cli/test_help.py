"""Texts of the help pages."""

from latentforest.cli.main import join_lines


def test_paragraphs_are_broken_by_the_terminal():
    assert join_lines("First.\n\n    One\n    two.\n    ") == "First.\n\nOne two."


def test_help_has_no_lines_of_the_source(run):
    assert "Ctrl-C, SIGTERM) with the best" in " ".join(run("--help").stdout.split())
    lines = [line.rstrip() for line in run("plot", "--help").stdout.splitlines()]
    assert " a criterion by the" not in lines
