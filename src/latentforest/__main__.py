"""The command ``latentforest``, also as ``python -m latentforest``."""


def run() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it quietly, too."""
    try:
        from latentforest.cli.main import main

        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    run()
