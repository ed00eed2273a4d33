"""Dumps of the zoo: one process, one step folder for each model and precision.

    python scripts/precheck/collect.py FOLDER [--models NAME ...] [--precisions NAME ...] [--statistics]

writes FOLDER/runs.json: {"gpt2 bf16": "FOLDER/dump/step3/.../dump.json", ...} and what could not be run.
"""
import argparse
import contextlib
import glob
import json
import os

os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

import torch  # noqa: E402
from msprobe.pytorch import PrecisionDebugger  # noqa: E402

from zoo import ZOO  # noqa: E402

PRECISIONS = {"f32": torch.float32, "bf16": torch.bfloat16, "autocast": torch.float32, "f16": torch.float16}


def one_step(debugger, name, precision):
    """Forward, backward, clipping and an optimizer's step, recorded as one step of the debugger."""
    torch.manual_seed(0)
    model, inputs = ZOO[name]()
    dtype = PRECISIONS[precision]
    model = model.to(dtype).train()
    inputs = {key: value.to(dtype).detach().requires_grad_(value.requires_grad) if torch.is_tensor(value) and value.is_floating_point() else value
              for key, value in inputs.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    autocast = torch.autocast("cpu", torch.bfloat16) if precision == "autocast" else contextlib.nullcontext()
    debugger.start(model=model)
    try:
        with autocast:
            result = model(**inputs)
            loss = result if torch.is_tensor(result) else result.loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    finally:
        debugger.stop()
        debugger.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--models", nargs="*", default=list(ZOO))
    parser.add_argument("--precisions", nargs="*", default=list(PRECISIONS), choices=list(PRECISIONS))
    parser.add_argument("--statistics", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(options.folder)
    dump = os.path.join(options.folder, "dump")
    task = "statistics" if options.statistics else "tensor"
    settings = {"task": task, "dump_path": dump, "rank": [], "step": [], "level": "L1", "risk_level": "ALL",
                task: {"scope": [], "list": [], "data_mode": ["all"]}}
    config = os.path.join(options.folder, "config.json")
    with open(config, "w") as file:
        json.dump(settings, file)
    debugger = PrecisionDebugger(config_path=config)
    runs, refused, step = {}, {}, 0
    for name in options.models:
        for precision in options.precisions:
            try:
                one_step(debugger, name, precision)
            except Exception as error:  # a model that torch cannot run in this precision on this machine
                refused[f"{name} {precision}"] = str(error).splitlines()[0][:120]
            else:
                (runs[f"{name} {precision}"],) = glob.glob(os.path.join(dump, f"step{step}", "*", "dump.json"))
            step += 1
            with open(os.path.join(options.folder, "runs.json"), "w") as file:
                json.dump({"runs": runs, "refused": refused}, file, indent=1)


if __name__ == "__main__":
    main()
