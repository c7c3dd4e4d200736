"""The command ``latentforest``, also as ``python -m latentforest``."""

import signal


def run() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it quietly, too."""
    try:
        from latentforest.cli.signals import listen

        listen()
        from latentforest.cli.main import main

        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:  # all is said and written: the exit code stays, whatever comes while Python ends
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    run()
