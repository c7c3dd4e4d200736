"""Lets ``python -m latentforest`` run the command line."""

from latentforest.cli.main import main

if __name__ == "__main__":
    main()
