"""`make torture`: the large campaigns, with what they found. `python tests/torture NAME COUNT SEED` runs one."""

import faulthandler
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import campaigns
import fuzz
import shared_index

LARGE = {
    "kills": (campaigns.kills, 2_000),
    "killed_migrations": (campaigns.killed_migrations, 200),
    "power_cuts": (campaigns.power_cuts, 10_000),
    "failing_calls": (campaigns.failing_calls, 1_000),
    "damaged_files": (campaigns.damaged_files, 2_000),
    "shared_index": (shared_index.shared_index, 500),
    "fuzzed_calls": (fuzz.fuzzed_calls, 1_000_000),
}


def run(name: str, count: int, seed: int) -> int:
    """Run one campaign and print its figures; returns how many accidents went wrong."""
    campaign, _ = LARGE[name]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        failures = campaign(count, seed, Path(folder))
    print(
        f"{name}: {count:,} with seed {seed} in {time.perf_counter() - began:.0f} s, {len(failures)} failures",
        flush=True,
    )
    for failure in failures[:20]:
        print(f"  {failure}", flush=True)
    return len(failures)


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    name, count, seed = (*sys.argv[1:], "", "", "")[:3]
    wanted = {name: int(count or LARGE[name][1])} if name else {key: usual for key, (_, usual) in LARGE.items()}
    sys.exit(1 if sum(run(key, number, int(seed or 1)) for key, number in wanted.items()) else 0)
