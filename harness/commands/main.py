"""The `harness` command: its group, its errors and its exit codes.

Exit codes: 0 done; 1 something failed, what was computed is kept; 2 what was asked for cannot be
understood; 130 stopped by the user.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

import harness

COMMANDS = {
    "eval": ("evaluate", "Evaluate models under mitigators on tasks."),
    "debias": ("debias", "Write a word model's whole vocabulary, debiased."),
    "study": ("study", "Compare mitigators by nested cross-validation."),
    "plan": ("plan", "Show what an evaluation would encode, without encoding."),
    "list": ("listing", "List models, mitigators, metrics, tasks, concepts or studies."),
    "show": ("show", "Show one model, mitigator, metric, task, concept or study in full."),
    "validate": ("validate", "Check task, concept and study files by really running them."),
    "new": ("new", "Write a working stub of a model, metric, mitigator or task."),
    "plugins": ("plugins", "List the plugins, and those that failed to load."),
    "cache": ("cache", "Show, verify and prune the stored embeddings."),
    "schema": ("schema", "Print the JSON Schema of files: tasks, concepts, studies, records."),
    "completion": ("completion", "Print the completion script of a shell."),
}
"""Command by name: its module in `harness.commands` and its line in the help."""


class Commands(click.Group):
    """A group whose commands are imported when they are run, and to which plugins add theirs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names: ours in their order, then those of plugins."""
        self._add_plugins()
        return [*COMMANDS, *sorted(set(self.commands) - set(COMMANDS))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = importlib.import_module(f"harness.commands.{COMMANDS[cmd_name][0]}")
            self.add_command(module.command, cmd_name)
        elif cmd_name not in self.commands:
            self._add_plugins()
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of all commands without importing ours."""
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
        """Find the command, or name the nearest."""
        from harness.errors import suggestion

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = suggestion(args[0], self.list_commands(ctx))
            raise click.UsageError(f"there is no command '{args[0]}'{near}", ctx) from None

    def _add_plugins(self) -> None:
        from harness.registry import discovery

        discovery.installed().add_commands(self)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(harness.__version__, prog_name="harness")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def group(debug: bool) -> None:
    """Social bias and name bias in word and sentence embeddings, and their mitigations."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; every error becomes one line."""
    debug = "--debug" in arguments  # taken anywhere on the line
    given = [argument for argument in arguments if argument != "--debug"]
    code = _guarded(given, debug)
    if given[:1] != ["plugins"]:
        _tell_left_out()
    return code


def _guarded(given: list[str], debug: bool) -> int:
    from harness.errors import HarnessError

    try:
        code = group.main(args=given, prog_name="harness", standalone_mode=False, obj=debug)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()  # the help itself
        return error.exit_code
    except click.ClickException as error:
        return _fail(_in_one_line(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("stopped; the same command goes on where it stopped", 130)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except HarnessError as error:
        if debug:
            raise
        return _fail(str(error), error.exit_code)
    except Exception as error:
        if debug:
            raise
        told = str(error).splitlines()[0] if str(error) else ""
        return _fail(f"unforeseen {type(error).__name__}: {told} (--debug shows where)", 1)
    return code if isinstance(code, int) else 0


def _in_one_line(error: click.ClickException) -> str:
    """Return what click has to say on several lines, as our own errors say it."""
    told = " ".join(error.format_message().split()).rstrip(".")
    told = (told[:1].lower() + told[1:]).replace(". Did you mean", "; did you mean")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{told} ({context.command_path} --help tells more)" if context else told


def _tell_left_out() -> None:
    """Tell which plugins failed, if plugins were looked for at all."""
    from harness.registry import discovery

    if discovery.installed.cache_info().currsize:
        for plugin in discovery.installed().failed:
            where = f"'{plugin.name}' ({plugin.distribution} {plugin.version})"
            click.echo(f"harness: the plugin {where} was left out: {plugin.error}", err=True)


def _fail(line: str, code: int) -> int:
    click.echo(f"harness: {line}", err=True)
    return code
