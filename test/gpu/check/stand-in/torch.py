"""A stand-in for PyTorch: notes which process holds how much memory of which GPU, for the stand-in nvidia-smi and NVML."""
import os
import types

uint8 = "uint8"


def _visible():
    words = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = int(os.environ.get("STAND_IN_GPUS", "1"))
    if words is None:
        return list(range(gpus))
    return [int(word.rpartition("-")[2]) for word in words.split(",") if word]


class _Block:
    def __init__(self, size):
        with open(os.environ["STAND_IN_HOLDERS"], "a") as file:
            file.write(f"{os.getpid()} {_visible()[0]} {size // 2**20}\n")

    def fill_(self, _value):
        return self


def empty(size, dtype, device):
    return _Block(size)


cuda = types.SimpleNamespace(device_count=lambda: len(_visible()), synchronize=lambda: None)
