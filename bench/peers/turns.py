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


def timed(work):
    """What `work` returns, and what it took: seconds by the clock, and of all cores."""
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def take(arguments, about, turn):
    """Warms up, says what it is, then takes turns: `turn` returns what is to be said of one."""
    turn()
    say(**about, ready=True)

    def once():
        line = {**about, **turn()}
        say(**line)
        return line["seconds"]

    if arguments.wait:
        for _ in sys.stdin:
            once()
        return
    seconds = [once() for _ in range(arguments.repeat)]
    if seconds and "work" in about:
        print(f"{about['who']} {about['row']} {about['shape']}: "
              f"{about['work'] / statistics.median(seconds) / 1e6:.3f} M {about['unit']}/s", file=sys.stderr)
