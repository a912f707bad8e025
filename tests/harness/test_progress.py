"""Progress reporting: lines for logs, bars for terminals, or nothing."""

from __future__ import annotations

import io

from rich.console import Console

from harness.progress import Bars, Lines, Silent, for_terminal


def run(progress, n=3):
    with progress.stage("model: encoding", n, "texts") as advance:
        for _ in range(n):
            advance(1)
        progress.say("a notice [with] brackets")


def test_silent_prints_nothing(capsys):
    run(Silent())
    assert capsys.readouterr() == ("", "")


def test_lines_have_the_counts_at_the_end_of_a_stage():
    stream = io.StringIO()
    run(Lines(stream))
    notice, done = stream.getvalue().splitlines()
    assert notice == "a notice [with] brackets"
    assert "model: encoding" in done
    assert "3/3 texts" in done


def test_a_bar_is_replaced_by_a_line_at_the_end_of_a_stage():
    bars, stream = Bars(), io.StringIO()
    bars.console = Console(file=stream, force_terminal=True, width=100)
    run(bars)
    assert "a notice [with] brackets" in stream.getvalue()
    assert "3/3 texts in " in stream.getvalue()


def test_without_a_terminal_there_are_lines():
    assert isinstance(for_terminal(), Lines)


def test_a_notebook_keeps_one_line_of_a_stage_and_of_a_mistake(tmp_path, monkeypatch):
    import nbformat
    from ipykernel.kernelspec import write_kernel_spec
    from nbclient import NotebookClient

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    write_kernel_spec(tmp_path / "jupyter" / "kernels" / "this")
    sources = [
        """from harness.progress import for_terminal
with for_terminal().stage("m: scoring", 3, "tasks") as advance:
    advance(3)""",
        """import harness
harness.Registry().mitigator("leacee")""",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="this", timeout=60, allow_errors=True).execute()
    (line,), (error,) = (cell.outputs for cell in notebook.cells)
    assert line["data"]["text/plain"].startswith("m: scoring: 3/3 tasks in ")
    assert error["traceback"] == ["UnknownName: unknown mitigator 'leacee'; did you mean 'leace'?"]
