"""Counting what a dump.json or debug.json holds, independently of the program: each leaf is one record."""
import json
import os

# What the collector notes about a call; it is no record.
NOTES = ("is_recompute",)


def leaves(value):
    """Records below an item: nulls, described values, bare values. Empty lists and objects hold none."""
    if isinstance(value, list):
        return sum(leaves(element) for element in value)
    if not isinstance(value, dict):
        return 1
    if value.get("class_type") == "torch.distributed.P2POp":
        return 1 + sum(leaves(v) for k, v in value.items() if k not in ("class_type", "tensor"))
    if isinstance(value.get("type"), str):
        return 1
    return sum(leaves(member) for member in value.values())


def entry_leaves(name, value):
    item = name.split(".")[-1] in ("debug", "parameters_grad")
    if item or not isinstance(value, dict) or isinstance(value.get("type"), str):
        return leaves(value)
    return sum(leaves(member) for key, member in value.items() if key not in NOTES)


def count(path):
    """Records of a file; None when it is no dump."""
    try:
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        return sum(entry_leaves(name, value) for name, value in whole["data"].items())
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def find(folder):
    """All dump.json and debug.json below a folder."""
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                  if name in ("dump.json", "debug.json"))
