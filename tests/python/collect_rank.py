"""One of two processes of test_collect.py: collect_rank.py FOLDER RANK"""

import os
import sys

import tdcmp
import torch
import torch.distributed as dist

folder, rank = sys.argv[1], int(sys.argv[2])
store = dist.FileStore(os.path.join(folder, "store"), 2)
dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
with tdcmp.collect(None, os.path.join(folder, "all"), level="L1"):
    value = torch.full((3,), float(rank))
    dist.all_reduce(value)
    value = torch.full((3,), float(rank))
    work = dist.broadcast(value, 0, async_op=True)
    work.wait()
with tdcmp.collect(None, os.path.join(folder, "one"), level="L1", ranks=[1]):
    torch.add(value, 1)
dist.destroy_process_group()
