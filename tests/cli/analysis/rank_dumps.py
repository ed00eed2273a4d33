"""Statistics dumps of several ranks, made up call by call: what is sent from rank to rank differs as it would in life."""
import json
import os

GROUP = "torch.ProcessGroup"


def tensor(value):
    """A tensor that is `value` times the same numbers."""
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8], "Max": 2.0 * value, "Min": -1.5 * value,
            "Mean": 0.1 * value, "Norm": 3.0 * value, "requires_grad": False}


def call(inputs, outputs, **keywords):
    return {"input_args": [tensor(value) for value in inputs], "input_kwargs": keywords,
            "output": [tensor(value) for value in outputs]}


def group(*ranks):
    return {"type": GROUP, "group_ranks": list(ranks), "group_id": "g"}


def number(value):
    return {"type": "int", "value": value}


def write(folder, ranks, parents=None, step="step0"):
    """ranks: by number the calls by name. parents: of all ranks, construct.json."""
    for rank, calls in ranks.items():
        place = os.path.join(folder, step, "rank%d" % rank)
        os.makedirs(place, exist_ok=True)
        save(place, "dump.json", {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None,
                                  "data": calls})
        if parents is not None:
            save(place, "construct.json", parents)
    return os.path.join(folder, step)


def save(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file)
