"""Simulations for whole nights: `python -m tests.simulation.run --seeds N --start S [--hours H]`.

Prints each seed before it runs; a failure shows the last of its history and the command that repeats it.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import traceback

import structlog

from tests.simulation.simulation import HOURS, Simulation


def main() -> int:
    """Run the seeds; 0 when all held, 1 at the first that did not."""
    parser = argparse.ArgumentParser(description="Simulate servers and their clients on virtual time.")
    parser.add_argument("--seeds", type=int, default=100, help="how many seeds")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument("--hours", type=float, default=HOURS, help="virtual hours of each")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    reached: collections.Counter[str] = collections.Counter()
    began = time.monotonic()
    for seed in range(arguments.start, arguments.start + arguments.seeds):
        print(f"seed {seed}", end=" ", flush=True)
        simulation = Simulation(seed, arguments.hours)
        try:
            history = simulation.run()
        except BaseException:  # noqa: BLE001 - whatever ended it, the seed and the history belong to it
            print("\n".join(simulation.history.tail))
            traceback.print_exc()
            print(f"repeat: python -m tests.simulation.run --seeds 1 --start {seed} --hours {arguments.hours}")
            return 1
        reached += history.reached
        print(f"{history.events} events, {history.digest}")
    seconds = time.monotonic() - began
    print(f"{arguments.seeds * arguments.hours:.0f} virtual hours in {seconds:.1f} s")
    for what, times in reached.most_common():
        print(f"{times:8} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
