"""`vllm serve`, where vLLM's script is missing or does not start.

The CPU build is installed under another name than `vllm`, and the script asks for the version of a package of that name.
"""

from __future__ import annotations


def main() -> None:
    """Run `vllm serve` on this process's arguments, as `vllm.entrypoints.cli.main` does."""
    from vllm.entrypoints.cli.serve import cmd_init
    from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
    from vllm.logger import configure_logging_from_args
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    cli_env_setup()
    parser = FlexibleArgumentParser(description="vLLM CLI")
    (serve,) = cmd_init()
    serve.subparser_init(parser.add_subparsers(required=True, dest="subparser"))
    arguments = parser.parse_args()
    configure_logging_from_args(arguments)
    serve.validate(arguments)
    serve.cmd(arguments)


if __name__ == "__main__":
    main()
