"""Makes torch_values_more.txt.xz: questions to the driver and torch's answers in float64. Needs torch; the tests do not.

    make_torch_values.py OUT.txt.xz            writes all cases
    make_torch_values.py --check DRIVER [WORD] asks the driver now and shows what differs, of names with WORD

A case is a name, the function of torch that it means, and its arguments; gradients of everything that has some are asked
for with drawn ones of the outputs. Numbers have few bits, so that the file stays small."""
import lzma
import subprocess
import sys

import torch

torch.manual_seed(20)
CASES = []
DTYPES = {torch.bool: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.uint8: 6,
          torch.float64: 15, torch.complex128: 18}


def grid(*shape, low=-24, high=24, step=16.0):
    return torch.randint(low, high + 1, shape).double() / step


def positive(*shape):
    return torch.randint(1, 40, shape).double() / 16


def complex_grid(*shape):
    return torch.complex(grid(*shape), grid(*shape))


def well(n, *batch):
    """Matrices far from singular."""
    return grid(*batch, n, n) + 3 * torch.eye(n, dtype=torch.float64)


def definite(n, *batch):
    a = grid(*batch, n, n)
    return a @ a.mT + 2 * torch.eye(n, dtype=torch.float64)


def case(name, function, *arguments, gradient=True, outputs=None, record=False, **keywords):
    """outputs: how many of the first are compared; record: they are told to the driver, to settle signs."""
    CASES.append((name, function, arguments, keywords, gradient, outputs, record))


# ---- the driver's words ---------------------------------------------------------------------------------------------

def tensor_words(t, wanted=False):
    code = DTYPES[t.dtype]
    t = t.detach().resolve_conj().contiguous()
    if t.dtype == torch.bool or not (t.is_floating_point() or t.is_complex()):
        data = t.to(torch.int64).numpy().astype("<i8").tobytes()
    else:
        data = t.numpy().tobytes()
    head = "tensor %d " % code if wanted is None else "tensor %d %d " % (code, wanted)
    return head + " ".join(map(str, [t.dim(), *t.shape])) + " " + data.hex()


def words(v, leaves):
    if v is None:
        return "null"
    if isinstance(v, torch.Tensor):
        return tensor_words(v, any(v is leaf for leaf in leaves))
    if isinstance(v, bool):
        return "bool %d" % v
    if isinstance(v, int):
        return "int %d" % v
    if isinstance(v, float):
        return "float " + v.hex()
    if isinstance(v, str):
        return "text " + v
    if isinstance(v, torch.dtype):
        return "dtype %d" % DTYPES[v]
    return "list %d " % len(v) + " ".join(words(x, leaves) for x in v)


def walk(v):
    if isinstance(v, torch.Tensor):
        yield v
    elif isinstance(v, (list, tuple)):
        for x in v:
            yield from walk(x)


def spread(y):
    """Outputs as the driver gives them: tuples opened."""
    if isinstance(y, (list, tuple)):
        return [z for x in y for z in spread(x)]
    return [y]


def answer_words(y):
    if y is None:
        return "null"
    if isinstance(y, torch.Tensor):
        return tensor_words(y, None)
    if isinstance(y, bool):
        return "bool %d" % y
    if isinstance(y, int):
        return "int %d" % y
    return "float " + float(y).hex()


def questions(name, function, arguments, keywords, gradient, outputs, record):
    everything = [*walk(arguments), *walk([v for k, v in keywords.items() if not k.startswith("_")])]
    leaves = [t for t in everything if gradient and (t.is_floating_point() or t.is_complex())]
    for t in leaves:
        t.requires_grad_(True)
    results = spread(function(*arguments, **keywords))
    if outputs is not None:
        results = results[:outputs]
    head = "call %s 15 %d %d %d" % (name, results[0].dim() if isinstance(results[0], torch.Tensor) else 0, len(arguments),
                                    len(keywords) + record)

    def body(leaves):
        told = [k + " " + words(v, leaves) for k, v in keywords.items()]
        told += ["RECORD " + words(results, [])] if record else []
        return " ".join([words(v, leaves) for v in arguments] + told)
    yield ("%s -1 %s" % (head, body([]))).rstrip(), [answer_words(y) for y in results]
    wanted = [y for y in results if isinstance(y, torch.Tensor) and y.requires_grad]
    if not wanted:
        for t in leaves:
            t.requires_grad_(False)
        return
    given = [(complex_grid if y.is_complex() else grid)(*y.shape)
             if isinstance(y, torch.Tensor) and y.requires_grad else None for y in results]
    try:
        found = torch.autograd.grad(wanted, leaves, [g for g in given if g is not None], allow_unused=True)
    except RuntimeError as reason:  # some functions of lists have no gradient that works
        print("no gradient of", name, reason, file=sys.stderr)
        return
    finally:
        for t in leaves:
            t.requires_grad_(False)
    text = "%s %d %s %s" % (head, len(given), body(leaves),
                            " ".join("null" if g is None else tensor_words(g, False) for g in given))
    yield text, [answer_words(g) for g in found]


# ---- both uses ------------------------------------------------------------------------------------------------------

def check(driver, word):
    import test_torch_values as test
    asked = []
    for one in CASES:
        if word in one[0]:
            asked += questions(*one)
    out = subprocess.run([driver], input="\n".join(q for q, _ in asked) + "\n", text=True, stdout=subprocess.PIPE,
                         check=True).stdout.splitlines()
    at, wrong = 0, 0
    for question, expected in asked:
        head = out[at].split(" ", 1)
        count = int(head[1]) if head[0] == "ok" else 0
        got = out[at + 1:at + 1 + count]
        at += 1 + count
        fine = head[0] == "ok" and len(got) == len(expected) and all(
            test.agree(test.read_value(a), test.read_value(b)) for a, b in zip(expected, got))
        if not fine:
            wrong += 1
            print("WRONG", question[:110], "|", " ".join(head), "| expected", len(expected))
            for a, b in zip(expected, got):
                x, y = test.read_value(a), test.read_value(b)
                if not test.agree(x, y):
                    print("   torch:", str(x)[:300], "\n   ours: ", str(y)[:300])
    print("%d of %d agree" % (len(asked) - wrong, len(asked)))


def main():
    import torch_cases
    for family in torch_cases.ALL:
        family()
    if sys.argv[1] == "--check":
        check(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
        return
    with lzma.open(sys.argv[1], "wt", encoding="ascii", preset=9 | lzma.PRESET_EXTREME) as file:
        for one in CASES:
            for question, answers in questions(*one):
                file.write("%s\n%d\n%s\n" % (question, len(answers), "\n".join(answers)))


if __name__ == "__main__":
    sys.modules["make_torch_values"] = sys.modules["__main__"]
    main()
