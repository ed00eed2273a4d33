"""What collecting a dump costs, beside msprobe's collector where that is installed.

    PYTHONPATH=python TDCMP_LIBRARY=build/release/host/libtdcmp.so python bench/collect.py [--model llama] [--rounds 5]

Trains a small transformer (of its own, or with --model gpt2 and llama one of the package transformers) for a step
without a collector, with tdcmp.collect and with msprobe, again and again in turns, each in a process of its own. The
numbers are seconds a step adds over the one without, the smallest of the rounds, by the clock and of the processor.
Needs torch; one thread, so that rounds can be compared.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time


def network(torch, hidden):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = torch.nn.LayerNorm(hidden), torch.nn.LayerNorm(hidden)
            self.qkv, self.out = torch.nn.Linear(hidden, 3 * hidden), torch.nn.Linear(hidden, hidden)
            self.up, self.down = torch.nn.Linear(hidden, 4 * hidden), torch.nn.Linear(4 * hidden, hidden)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = (p.view(batch, length, 4, -1).transpose(1, 2) for p in self.qkv(self.norm1(x)).chunk(3, -1))
            weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) * (hidden // 4) ** -0.5, -1)
            x = x + self.out(torch.matmul(weights, v).transpose(1, 2).reshape(batch, length, hidden))
            return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(1000, hidden)
            self.blocks = torch.nn.ModuleList(Block() for _ in range(4))
            self.head = torch.nn.Linear(hidden, 1000)

        def forward(self, ids):
            x = self.embedding(ids)
            for block in self.blocks:
                x = block(x)
            return torch.nn.functional.cross_entropy(self.head(x).view(-1, 1000), ids.view(-1))

    return Net()


def known_network(name, hidden):
    """A small one of the package transformers, which returns its loss."""
    import transformers

    if name == "gpt2":
        config = transformers.GPT2Config(vocab_size=1000, n_embd=hidden, n_head=4, n_layer=4, bos_token_id=1, eos_token_id=2)
        net = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.LlamaConfig(
            vocab_size=1000, hidden_size=hidden, intermediate_size=3 * hidden, num_hidden_layers=4, num_attention_heads=4
        )
        net = transformers.LlamaForCausalLM(config)
    return net


def collector(who, folder, level, task):
    """Functions that begin and end a step."""
    if who == "none":
        return lambda net: None, lambda: None
    if who == "tdcmp":
        import tdcmp

        made = []

        def begin(net):
            made.extend([] if made else [tdcmp.collect(net, folder, level=level, task=task)])
            made[0].__enter__()

        return begin, lambda: made[0].__exit__(None, None, None)
    from msprobe.pytorch import PrecisionDebugger

    kind = "tensor" if task == "tensor" else "statistics"
    settings = {"scope": [], "list": [], "data_mode": ["all"]}
    if kind == "statistics":
        settings["summary_mode"] = task
    config = {"task": kind, "dump_path": folder, "rank": [], "step": [], "level": level, "risk_level": "ALL", kind: settings}
    path = folder + ".json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    debugger = PrecisionDebugger(config_path=path)

    def end():
        debugger.stop()
        debugger.step()

    return lambda net: debugger.start(model=net), end


def measure(who, model, level, task, hidden):
    """One process: a step to warm up, then three; seconds of the fastest, by the clock and of the processor."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    place = tempfile.mkdtemp()
    begin, end = collector(who, os.path.join(place, "dump"), level, task)
    known = model != "blocks"
    net = known_network(model, hidden) if known else network(torch, hidden)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    ids = torch.randint(0, 1000, (4, 128))
    found = []
    for _ in range(4):
        times = time.perf_counter(), time.process_time()
        begin(net)
        (net(input_ids=ids, labels=ids).loss if known else net(ids)).backward()
        optimizer.step()
        end()
        found.append((time.perf_counter() - times[0], time.process_time() - times[1]))
    shutil.rmtree(place)
    return [min(column) for column in zip(*found[1:])]


def in_process(*arguments):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            os.write(writing, json.dumps(measure(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=["blocks", "gpt2", "llama"], default="blocks")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--level", default="mix")
    parser.add_argument("--task", nargs="*", default=["statistics", "md5", "tensor"])
    arguments = parser.parse_args()
    import torch  # noqa: F401  before the processes part, so that none of them reads it again

    if arguments.model != "blocks":
        known_network(arguments.model, 8)

    sides = ["none", "tdcmp", "msprobe"]
    try:
        import msprobe.pytorch  # noqa: F401
    except ImportError:
        print("msprobe is not installed: tdcmp alone", file=sys.stderr)
        sides.pop()
    print("task        level  collector  step s  adds s  adds s of the processor")
    for task in arguments.task:
        best = {}
        for _ in range(arguments.rounds):
            for side in sides:
                found = in_process(side, arguments.model, arguments.level, task, arguments.hidden)
                if found is None:
                    return 1
                best[side] = [min(pair) for pair in zip(best.get(side, found), found)]
        for side in sides:
            adds = [one - other for one, other in zip(best[side], best["none"])]
            print(f"{task:10}  {arguments.level:5}  {side:9}  {best[side][0]:6.3f}  {adds[0]:6.3f}  {adds[1]:6.3f}")
        if len(sides) == 3:
            ratio = [(best["msprobe"][i] - best["none"][i]) / (best["tdcmp"][i] - best["none"][i]) for i in range(2)]
            print(f"{task:10}  msprobe adds {ratio[0]:.1f} times as much by the clock, {ratio[1]:.1f} of the processor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
