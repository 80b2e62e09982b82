"""How a timed program talks: lines of JSON, as the top of scripts/bench describes them."""
import json
import statistics
import sys
import time


def say(**line):
    print(json.dumps(line), flush=True)


def absent(who, why):
    """The program cannot run here; the table says so."""
    say(who=who, absent=why)
    sys.exit(0)


def add_arguments(parser):
    parser.add_argument("--repeat", type=int, default=3, help="turns, when nobody says when")
    parser.add_argument("--wait", action="store_true",
                        help="take a turn for every line of standard input, until it ends")


def take(arguments, about, turn):
    """Warms up, says what it is, then takes turns: `turn` returns what is to be said of one besides
    its seconds, and may time itself by returning `seconds`."""
    turn()
    say(**about, ready=True)

    def timed():
        start = time.perf_counter()
        said = turn()
        seconds = time.perf_counter() - start
        line = {**about, "seconds": seconds, **said}
        say(**{key: value for key, value in line.items() if key != "versions"})
        return line["seconds"]

    if arguments.wait:
        for _ in sys.stdin:
            timed()
        return
    seconds = [timed() for _ in range(arguments.repeat)]
    if seconds and "work" in about:
        print(f"{about['who']} {about['row']} {about['shape']}: "
              f"{about['work'] / statistics.median(seconds) / 1e6:.3f} M {about['unit']}/s", file=sys.stderr)
