"""`harness plugins`: how to use the benchmarks from other harnesses."""

import click

NAMES = ("lm-eval", "inspect-ai", "verifiers", "openenv", "trl")


@click.command()
@click.argument("name", required=False, type=click.Choice(NAMES))
def plugins(name: str | None) -> None:
    """Show how to use the benchmarks in another harness; for lm-eval, print the folder of its task files.

    \b
    harness plugins
    lm_eval --include_path $(harness plugins lm-eval) --tasks harness_hexagons ...
    """
    if name == "lm-eval":
        from harness.plugins.lm_eval import write_folder

        click.echo(write_folder())
        return
    for one in (name,) if name else NAMES:
        click.echo(f"{one}\n\n{_usage(one)}\n")


def _usage(name: str) -> str:
    """The documentation of a module, which need not be importable here."""
    import ast
    from importlib.resources import files

    source = files("harness.plugins") / f"{name.replace('-', '_')}.py"
    return ast.get_docstring(ast.parse(source.read_text())) or ""
