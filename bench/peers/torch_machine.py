#!/usr/bin/env python3
"""What a GPU can do at most, through PyTorch: large products in TF32, and copying its memory.

  torch_machine.py sgemm|copy [--device cuda] [--width 8192] [--repeat 3]

Prints lines of JSON (see scripts/bench).
"""
import argparse

import turns

WHO = "machine"
try:
    import torch
except ImportError as error:
    turns.absent(WHO, str(error))

TIMES = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("row", choices=["sgemm", "copy"])
    parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    parser.add_argument("--width", type=int, default=8192, help="of square matrices")
    turns.add_arguments(parser)
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        turns.absent(WHO, "no CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = True
    # Zeros would be multiplied faster than anything else.
    a, b, c = (torch.randn(arguments.width, arguments.width, device=arguments.device) for _ in range(3))

    def work():
        for _ in range(TIMES):
            if arguments.row == "sgemm":
                torch.mm(a, b, out=c)
            else:
                c.copy_(a)
        if arguments.device == "cuda":
            torch.cuda.synchronize()

    numbers = arguments.width ** 2
    work_done = ({"flop": TIMES * 2 * numbers * arguments.width} if arguments.row == "sgemm" else
                 {"bytes": TIMES * 2 * numbers * 4})  # read and written
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    turns.take(arguments, {"row": arguments.row, "shape": str(arguments.width), "who": WHO, "device": device,
                           **work_done}, lambda: turns.timed(work)[1])


if __name__ == "__main__":
    main()
