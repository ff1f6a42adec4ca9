"""PersonMachine for a night: `python -m tests.web.person --acts 20000 --seed N [--go-on] [--replay FILE]`.

Each example has the seed N, N + 1, ...; a fault is shrunk, told as sentences, and kept as a file that replays it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.web.browsing import FLAGS, SHELL, instance
from tests.web.person.acts import Act
from tests.web.person.machine import Finding, PersonMachine
from tests.web.person.persons_browser import Setting
from tests.web.person.shrinking import kind_of, shrunk
from tests.web.person.world import World


def main() -> int:
    """0 where nothing was found."""
    parser = argparse.ArgumentParser(description="A person does what the web client offers.")
    parser.add_argument("--acts", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--each", type=int, default=75, help="acts in one example")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--go-on", action="store_true", help="look for further kinds of faults")
    parser.add_argument("--shrink", type=float, default=60, help="seconds for the shrinking of one finding")
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--kept", type=Path, default=Path("person-findings"))
    options = parser.parse_args()
    with instance() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=SHELL, args=list(FLAGS))
        machine = PersonMachine(browser, World(home))
        if options.replay:
            return replay(machine, options.replay)
        return run(machine, options)


def run(machine: PersonMachine, options: argparse.Namespace) -> int:
    """Examples until enough was done."""
    began, seed = time.monotonic(), options.seed
    machine.until = began + options.minutes * 60
    while machine.acts < options.acts and time.monotonic() < machine.until:
        before = machine.acts
        finding = machine.example(seed, min(options.each, options.acts - machine.acts))
        total = machine.acts
        if finding is not None:
            kinds = {kind_of(fault) for fault in finding.faults}
            print(f"seed {seed}: {sorted(kinds)}", flush=True)
            tell(machine, finding, seed, options)
            if not options.go_on:
                return 1
            machine.known.update(kinds)
        machine.acts = total
        print(f"seed {seed}: {total - before} acts", flush=True)
        seed += 1
    seconds = time.monotonic() - began
    found = len(machine.known)
    print(f"{machine.acts} acts in {seconds:.0f} s, seeds {options.seed} to {seed - 1}, {found} kinds of faults")
    print({kind: round(took, 1) for kind, took in sorted(machine.seconds.items(), key=itemgetter(1), reverse=True)})
    print(f"memory of a page at the end: {machine.memory / 2**20:.1f} MiB at most")
    print(*(f"{times:6} {kind}" for kind, times in machine.known.most_common()), sep="\n")
    return 1 if machine.known else 0


def tell(machine: PersonMachine, finding: Finding, seed: int, options: argparse.Namespace) -> None:
    """Shrink it, print it, keep it."""
    kinds = {kind_of(fault) for fault in finding.faults}

    def fails(acts: Sequence[Act]) -> bool:
        faults = machine.replay(finding.setting, finding.beginning, acts)
        return bool({kind_of(fault) for fault in faults} & kinds)

    until, machine.until = machine.until, float("inf")
    acts = shrunk(finding.acts, fails, options.shrink) if fails(finding.acts) else list(finding.acts)
    machine.until = until
    least = Finding(finding.faults, finding.setting, finding.beginning, acts)
    options.kept.mkdir(exist_ok=True)
    place = options.kept / f"{seed}.json"
    place.write_text(json.dumps(least.kept(), ensure_ascii=False, indent=1))
    print(f"{least.told()}\nrepeat: python -m tests.web.person --replay {place}\n", flush=True)


def replay(machine: PersonMachine, place: Path) -> int:
    """Do once more what a file holds."""
    kept = json.loads(place.read_text())
    acts = [Act(one["kind"], one["target"] and tuple(one["target"]), one["detail"]) for one in kept["acts"]]
    faults = machine.replay(Setting(**kept["setting"]), kept["beginning"], acts)
    print("\n".join(faults) or "nothing is wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
