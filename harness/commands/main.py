"""The `harness` program: its commands, its error messages and its exit codes.

Exit codes: 0 success; 1 something failed, and computed results are kept; 2 the command line or a
file has a mistake in it; 3, 4 and 5 are verdicts of `harness compare`; 129, 130 and 143: ended by
SIGHUP, by the user (SIGINT) and by SIGTERM.
"""

from __future__ import annotations

import gc
import importlib
import io
import re
import sys
from collections.abc import Sequence

import click

import harness
from harness.printing import apart, echo, printable

LONGEST_LINE = 4_000
"""Characters of an error."""
VERSION = getattr(harness, "__version__", None)
"""The version; None if another project, which is installed later, has replaced our files."""
COMMANDS = {
    "eval": ("evaluate:command", "Evaluate models under mitigators on tasks."),
    "compare": ("verdict:command", "Compare a model with its base: more biased, or less?"),
    "words": ("words:command", "Score own word lists by every metric that they allow."),
    "debias": ("debias:command", "Write a debiased model: word vectors or a text encoder."),
    "results": ("results:command", "Show, compare and export recorded scores."),
    "cite": ("cite:command", "Print BibTeX of what results were made with."),
    "study": ("study:command", "Compare mitigators by nested cross-validation."),
    "plan": ("evaluate:plan_command", "Show what an evaluation would encode, without encoding."),
    "list": ("listing:command", "List models, mitigators, metrics, tasks, benchmarks and so on."),
    "show": ("show:command", "Show one model, mitigator, metric, task, benchmark and so on."),
    "validate": ("validate:command", "Check files of tasks, concepts, studies and benchmarks."),
    "new": ("new:command", "Write a working example of a plugin, or of a part of one."),
    "plugins": ("plugins:command", "List the installed plugins and load errors."),
    "data": ("data:command", "Show and fetch data files; write references."),
    "cache": ("cache:command", "Show, verify and prune the cached embeddings."),
    "schema": ("schema:command", "Print the JSON Schema of a kind of file."),
}
"""By name: `module:attribute` in `harness.commands`, and the line in `harness --help`."""


class Commands(click.Group):
    """Imports a command when it is run; plugins add commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the built-in names in their order, then those of plugins."""
        self._add_plugins()
        return [*COMMANDS, *sorted(set(self.commands) - set(COMMANDS))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module, _, attribute = COMMANDS[cmd_name][0].partition(":")
            command = getattr(importlib.import_module(f"harness.commands.{module}"), attribute)
            self.add_command(command if module == "main" else _apart(command), cmd_name)
        if cmd_name not in self.commands or cmd_name == "results":  # a group that plugins extend
            self._add_plugins()
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command, without importing the built-in ones."""
        rows = []
        for name in self.list_commands(ctx):
            if name in COMMANDS:
                rows.append((name, COMMANDS[name][1]))
            elif (command := self.get_command(ctx, name)) is not None:
                rows.append((name, command.get_short_help_str(limit=80)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown one, suggest names that are not yet imported too."""
        from harness.errors import suggestion

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = suggestion(args[0], self.list_commands(ctx))
            raise click.UsageError(f"unknown command '{args[0]}'{near}", ctx) from None

    def _add_plugins(self) -> None:
        from harness.registry import discovery

        discovery.installed().add_commands(self, COMMANDS)


def _apart(command: click.Command) -> click.Command:
    """Return a command that keeps what others print from standard output."""
    for own in getattr(command, "commands", {}).values():
        _apart(own)
    if command.callback:
        command.callback = apart()(command.callback)
    return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="harness")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def group(debug: bool) -> None:
    """Measure social bias and name bias in word and sentence embeddings, and mitigate it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    # Parsed tasks are many small objects that live on: 700 new ones between two collections, as
    # Python has it, are a sixth of the time of a short command.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what its encoding lacks is replaced
            stream.reconfigure(errors="replace")
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; every error becomes one line."""
    debug = "--debug" in arguments  # accepted anywhere in the command line
    rest = [argument for argument in arguments if argument != "--debug"]
    _report_other_project()
    if VERSION is None:
        return _fail("its files replaced ours; install the harness alone and again", 1)
    code = _exit_code(rest, debug)
    if rest[:1] != ["plugins"]:
        _report_failed_plugins()
    return code


def _exit_code(arguments: list[str], debug: bool) -> int:
    from harness.errors import HarnessError
    from harness.signals import Terminated, raised

    try:
        with raised():
            code = group.main(args=arguments, prog_name="harness", standalone_mode=False, obj=debug)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()  # the help itself
        return error.exit_code
    except click.ClickException as error:
        return _fail(_in_one_line(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted; run the same command again to continue", 130)
    except Terminated as error:
        return _fail(f"{error}; run the same command again to continue", error.exit_code)
    except SystemExit:
        if hasattr(sys.stdout, "wrapped"):  # click's answer to a closed pipe
            return 0
        raise
    except HarnessError as error:
        if debug:
            raise
        return _fail(str(error), error.exit_code)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.strerror:  # of a full disk there is no name
            where = f"{error.filename}: " if error.filename else ""
            problem = f"{where}{error.strerror} (--debug shows the traceback)"
            return _fail(problem, 1)
        line = (str(error).splitlines() or [""])[0]
        message = f"unexpected {type(error).__name__}: {line} (--debug shows the traceback)"
        return _fail(message, 1)
    return code if isinstance(code, int) else 0


def _in_one_line(error: click.ClickException) -> str:
    """Return click's message, which may have several lines, in the form of the harness's errors."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = (message[:1].lower() + message[1:]).replace(". Did you mean", "; did you mean")
    several = re.search(r"\.? \(Did you mean one of: (.*)\?\)$", message)
    if several:
        names = several[1].replace(", ", " or ")
        message = f"{message[: several.start()]}; did you mean {names}?"
    message = re.sub("^no such (?=command|option)", "unknown ", message)
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} (see {context.command_path} --help)" if context else message


def _report_other_project() -> None:
    """Print a line if the project `harness` of the package index is installed, too.

    Both have the import package `harness`: files of the one installed later replace files of the
    other. Only its name is looked up: to read what each distribution holds takes 20 ms.
    """
    from importlib.metadata import Distribution

    for other in Distribution.discover(name="harness"):
        echo(
            f"harness: another project, 'harness' {other.version}, is installed in this "
            "environment and has the same import package; use an environment for each",
            err=True,
        )
        return


def _report_failed_plugins() -> None:
    """Print the plugins that failed, if this command used plugins."""
    from harness.registry import discovery

    if discovery.installed.cache_info().currsize:
        for plugin in discovery.installed().failed:
            owner = f"'{plugin.name}' ({plugin.distribution} {plugin.version})"
            echo(f"harness: plugin {owner} failed and was skipped: {plugin.error}", err=True)


def _fail(line: str, code: int) -> int:
    from harness.names import without_secrets

    line = " ".join(line.splitlines())  # what the user typed may have several
    echo(f"harness: {printable(without_secrets(line), LONGEST_LINE)}", err=True)
    return code
