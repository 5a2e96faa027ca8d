"""
Holds memory of the first visible GPU with PyTorch: hold.py MIB NOTE. Writes the file NOTE when it holds the memory. Ends when NOTE.stop exists, when
the directory of NOTE is removed, or after 4 minutes.
"""
import json
import os
import sys
import time

import torch

mib, note = int(sys.argv[1]), sys.argv[2]
block = torch.empty(mib * 2**20, dtype=torch.uint8, device="cuda").fill_(1)
torch.cuda.synchronize()
seen = {"pid": os.getpid(), "count": torch.cuda.device_count(), "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}
with open(note + ".new", "w") as file:
    json.dump(seen, file)
os.rename(note + ".new", note)
end = time.monotonic() + 240
while os.path.isdir(os.path.dirname(note)) and not os.path.exists(note + ".stop") and time.monotonic() < end:
    time.sleep(0.1)
