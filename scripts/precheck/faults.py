"""Faults planted into recorded outputs of a dump, one per call, and taken back again.

Each fault is a function of the tensor and of a random generator; it gives the changed tensor. LARGE are the changes that
no rounding explains; of the others it depends on the call whether they are beyond its bound.
"""
import contextlib
import json
import os
import random

import torch


def one_element(tensor, choice):
    changed = tensor.clone().flatten()
    changed[choice.randrange(changed.numel())] += 3 * (tensor.double().pow(2).mean().sqrt().item() or 1)
    return changed.view_as(tensor)


def row_of_zeros(tensor, choice):
    """As a mask of another step leaves it."""
    changed = tensor.clone().reshape(-1, tensor.shape[-1] if tensor.dim() else 1)
    changed[choice.randrange(changed.shape[0])] = 0
    return changed.view_as(tensor)


FAULTS = {
    "one element + 3 rms": one_element,
    "row of zeros": row_of_zeros,
    "scale missing (x 0.125)": lambda tensor, choice: tensor * 0.125,
    "x 1.05": lambda tensor, choice: tensor * 1.05,
    "x 1.005": lambda tensor, choice: tensor * 1.005,
    "rounded to bf16": lambda tensor, choice: tensor.bfloat16().to(tensor.dtype),
    "accumulated in bf16 (noise)": lambda tensor, choice: tensor * (1 + 2.0**-7 * torch.randn(tensor.shape)).to(tensor.dtype),
}


def size_of(before, after):
    """The largest change, relative to the largest element."""
    largest = before.double().abs().max().item()
    return (after.double() - before.double()).abs().max().item() / largest if largest else float("inf")


def is_large(before, after):
    return size_of(before, after) > (1e-3 if before.dtype == torch.float32 else 0.1)


def candidates(dump_json, judged):
    """(call, direction, file) of floating outputs of records with a verdict."""
    with open(dump_json) as file:
        data = json.load(file)["data"]
    for call, direction in judged:
        for output in data[f"{call}.{direction}"].get("output") or []:
            if isinstance(output, dict) and "float" in output.get("dtype", "") and "data_name" in output:
                yield call, direction, os.path.join(os.path.dirname(dump_json), "dump_tensor_data", output["data_name"])
                break


@contextlib.contextmanager
def planted(dump_json, judged, count, seed):
    """Plants up to `count` faults; gives [(fault, call, direction, large)]. The files are as before afterwards."""
    choice = random.Random(seed)
    torch.manual_seed(seed)
    places = list(candidates(dump_json, judged))
    choice.shuffle(places)
    done, kept, taken = [], {}, set()
    try:
        for call, direction, path in places:
            if len(done) == count:
                break
            before = torch.load(path, weights_only=True)
            # a call has one fault; what is not finite or all zero does not change by scaling
            if call in taken or before.numel() < 2 or not before.isfinite().all() or not before.any():
                continue
            name = choice.choice(list(FAULTS))
            after = FAULTS[name](before, choice)
            if torch.equal(before, after) or not after.isfinite().all():
                continue
            with open(path, "rb") as file:
                kept[path] = file.read()
            torch.save(after, path)
            taken.add(call)
            done.append((name, call, direction, is_large(before, after)))
        yield done
    finally:
        for path, content in kept.items():
            with open(path, "wb") as file:
                file.write(content)
