"""sayso and lm-polygraph side by side: the same models, questions and scores, in one run.

    make bench-peers
    python benchmarks/speed/peers.py [--shots 5] [--n 100] [--draws 10] [--tokens 32] [--rows R]
        [--attentions] [--ideas] [--model FOLDER] [--python PATH] [--data FOLDER] [--save FILE.json]

Both sides answer N questions greedily and draw k more answers from a random Llama (32,000 tokens,
12 million weights behind a 32,000-way head), relate the draws with a random DeBERTa, ask P(True),
and compute the scores that both have, each in a process of its own on one thread. Counted are the
calls and token positions of either model (a hook on its forward), CPU seconds after loading, and
memory. Then sayso computes its scores from the peer's own draws, where equal definitions must give
equal values. NLI pairs and calls are counted again on real samples with a deterministic classifier.
``--attentions`` lets the peer keep attentions and hidden states as it does by default; ``--ideas``
shows the draws when P(True) is asked, on both sides. ``--model`` is a real language model in
place of the random one, a folder or ``smollm2``, asked the first N questions of ``world-50`` in its
own chat template, on both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from peers_parts import Clock, Counter, StandIn, folders, loaded, memory, prompts, read, write
from peers_shown import SAME, print_equality, print_generation, print_meanings

HERE = Path(__file__).parent


def our_meaning(classifier: Any, condition: bool = False) -> Any:
    """Return relations by a classifier, each pair asked once; the peer never shows the question."""
    from sayso.judges.meaning import ModelMeaning
    from sayso.runs.tools import RememberedClassifier

    return ModelMeaning(RememberedClassifier(classifier), "nli", condition=condition)


def samples_of(case: Any, answers: Sequence[Any]) -> Any:
    """Return the evidence of a case whose first answer is the greedy one."""
    from sayso.scores.evidence import Samples

    return Samples(answer=answers[0], draws=tuple(answers[1:]), **case.evidence)


def ours(task: dict[str, Any]) -> dict[str, Any]:
    """Answer, draw, and score with sayso's own pieces."""
    from sayso.engines import open_classifier, open_model
    from sayso.prompts import load_prompt
    from sayso.records import ask
    from sayso.scores import score_one
    from sayso.scores.collect import Tools, collect_evidence, question_of
    from sayso.scores.evidence import Case, answer_of

    options = {"threads": 1} | ({"batch_size": task["rows"]} if task["rows"] else {})
    engine: Any = open_model(f"hf:{task['lm']}", **options)
    classifier: Any = open_classifier(task["nli"])
    lm, nli = Counter(engine.runner.model), Counter(classifier._model)
    before = loaded(engine.runner.model, classifier._model)
    clock, width = Clock(), task["draws"] + 1
    cases: list[Any] = []
    judged: list[Any] = []
    held: list[list[Any]] = []
    found: list[Any] = []
    scores: list[Any] = []

    def answer() -> None:
        size = task["tokens"]
        greedy: dict[str, Any] = {"temperature": 0}
        wanted = [
            ask(p, max_tokens=size, seed=task["seed"], **({"sample": s - 1} if s else greedy))
            for p in task["prompts"]
            for s in range(width)
        ]
        found.extend([None] * len(wanted))
        for index, generation in engine.complete(wanted):
            found[index] = generation
        for n, prompt in enumerate(task["prompts"]):
            mine = found[n * width : (n + 1) * width]
            held.append([answer_of(g) for g in mine])
            texts = [g.text for g in mine]
            cases.append(Case(prompt, wanted[n * width], texts[0], texts[1:]))
            shown = texts[1:] if task["ideas"] else ()
            judged.append(Case(prompt, wanted[n * width], texts[0], shown))

    def score() -> None:
        for case, other, answers in zip(cases, judged, held, strict=True):
            case.evidence |= other.evidence
            scores.append(score_one(samples_of(case, answers), [*SAME, "p_true"]))

    def everything() -> None:
        tools = Tools(engine, our_meaning(classifier))
        clock.timed("answers and draws", answer)
        clock.timed("P(True)", collect_evidence, judged, {"ptrue"}, tools)
        clock.timed("NLI", collect_evidence, cases, {"nli", "clusters"}, tools)
        clock.timed("lexical similarity", collect_evidence, cases, {"similarity"}, tools)
        clock.timed("scores", score)

    clock.timed("all", everything)
    peak = memory("VmHWM")
    # What no one could do without: each prompt once, each answer but its last token, each
    # question about an answer once.
    template = load_prompt("p_true")
    asked = [*task["prompts"], *(question_of(template, case) for case in judged)]
    coded = [engine.render(ask(text)).ids for text in asked]
    steps = sum(max(0, len(g.token_ids or ()) + (g.finish == "stop") - 1) for g in found)
    empty = sum(s.value is None for one in scores for s in one.values())
    return {
        "lm": lm.told(), "nli": nli.told(), "cpu": clock.spent,
        "memory": {"loaded": before, "peak": peak, "by": clock.most},
        "real": sum(map(len, coded)) + steps,
        # the peer's have their end of text
        "greedy": [
            [*(g.token_ids or ()), *([engine.tokenizer.eos_token_id] * (g.finish == "stop"))]
            for g in found[::width]
        ],
        "without a value": empty,
    }  # fmt: skip


def again(task: dict[str, Any]) -> dict[str, Any]:
    """Compute our scores from the peer's own draws, and read its greedy answers with our engine."""
    from sayso.engines import open_classifier, open_model
    from sayso.records import ask
    from sayso.scores import score_one
    from sayso.scores.collect import Tools, collect_evidence
    from sayso.scores.evidence import Answer, Case

    kept = task["kept"]
    engine: Any = open_model(f"hf:{task['lm']}", threads=1)
    requests = [ask(prompt, temperature=0) for prompt in task["prompts"]]
    items = list(zip(requests, kept["greedy_tokens"], strict=True))
    read_again: list[Any] = [None] * len(items)
    for index, generation in engine.force(items, ["logprobs", "entropies"]):
        read_again[index] = generation
    gaps: dict[str, float] = {}
    for name, theirs in (("logprobs", "greedy_log_likelihoods"), ("entropies", "entropy")):
        per_token = [
            np.abs(np.asarray(getattr(g, name)) - np.asarray(t))
            for g, t in zip(read_again, kept[theirs], strict=True)
        ]
        gaps[f"{name}, first two tokens"] = max(float(gap[:2].max()) for gap in per_token)
        gaps[f"{name}, the others"] = max(float(gap[2:].max()) for gap in per_token)
    cases, scores = [], []
    for prompt, request, texts in zip(task["prompts"], requests, kept["sample_texts"], strict=True):
        cases.append(Case(prompt, request, "", texts))
    tools = Tools(None, our_meaning(open_classifier(task["nli"])))
    collect_evidence(cases, {"nli", "clusters", "similarity"}, tools)
    ended = 0
    for n, case in enumerate(cases):
        draws = []
        for text, tokens, total in zip(
            case.draws, kept["sample_log_likelihoods"][n], kept["sample_log_probs"][n], strict=True
        ):
            rest = total - sum(tokens)  # its total counts the end-of-text token, its list does not
            ended += abs(rest) > 1e-6
            draws.append(Answer(text, logprobs=(*tokens, rest) if abs(rest) > 1e-6 else tokens))
        mine = Answer("x", logprobs=kept["greedy_log_likelihoods"][n], entropies=kept["entropy"][n])
        scores.append(score_one(samples_of(case, [mine, *draws]), list(SAME)))
    tables = []
    for case, theirs in zip(cases, kept["semantic_matrix_entail"], strict=True):
        texts = np.asarray(case.draws)
        other = texts[:, None] != texts[None, :]  # of equal texts the peer asks its model too
        gap = np.abs(np.asarray(case.evidence["entail"]) - np.asarray(theirs))
        tables.append(gap[other].max(initial=0.0))
    own = [np.diag(np.asarray(table)) for table in kept["semantic_matrix_entail"]]
    return {
        "scores": {name: [s[name].value for s in scores] for name in SAME},
        "gaps": gaps | {"P(entails) between different draws": float(max(tables))},
        "ended": ended,
        "own": [float(np.min(own)), float(np.max(own))],
    }


def our_meanings(task: dict[str, Any]) -> dict[str, Any]:
    """Cluster real samples with the deterministic classifier, then fill whole tables as well."""
    from transformers import AutoConfig, AutoTokenizer

    from sayso.engines.hf.encoders import HfClassifier
    from sayso.records import ask
    from sayso.scores.collect import Tools, collect_evidence
    from sayso.scores.entropy import discrete_semantic_entropy, num_sets
    from sayso.scores.evidence import Case

    found: dict[str, Any] = {}
    for name, wanted, condition in (
        ("clusters", {"clusters"}, False),
        ("tables", {"clusters", "nli"}, False),
        ("clusters, question shown", {"clusters"}, True),
    ):
        stand_in = StandIn(AutoConfig.from_pretrained(task["nli"]))
        tokenizer = AutoTokenizer.from_pretrained(task["nli"])
        classifier = HfClassifier("stand-in", stand_in, tokenizer, "stand-in", "stand-in")
        counter, clock = Counter(stand_in), Clock()
        cases = [
            Case(question, ask(question), None, texts)
            for question, texts in zip(task["questions"], task["samples"], strict=True)
        ]
        tools = Tools(None, our_meaning(classifier, condition))
        clock.timed("all", collect_evidence, cases, wanted, tools)
        ids = [list(case.evidence["clusters"]) for case in cases]
        found[name] = {
            "nli": counter.told(),
            "cpu": clock.spent,
            "ids": ids,
            "entropies": [discrete_semantic_entropy(one) for one in ids],
            "sets": [num_sets(one) for one in ids],
        }
    return found


def real_model(name: str, n: int) -> tuple[Path, list[str]]:
    """Return the folder of a real model and n questions for it."""
    from sayso.datasets import load_dataset
    from sayso.engines.hf.files import unpack
    from sayso.engines.named import PACKAGED

    model = unpack(name) if name in PACKAGED else Path(name).expanduser()
    if not (model / "config.json").is_file():
        sys.exit(f"{model} is not a model folder: it has no config.json")
    questions = [question.text for question in load_dataset("world-50").short[:n]]
    if len(questions) < n:
        sys.exit(f"world has {len(questions)} short questions, and --n wants {n}")
    return model, questions


def elsewhere(python: str, script: str, task: dict[str, Any], folder: Path) -> Any:
    """Run one side in a process of its own and return its result."""
    given, result = folder / "task.json", folder / "result.json"
    write(str(given), task)
    result.unlink(missing_ok=True)
    one_thread = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [python, "-W", "ignore", str(HERE / script), str(given), str(result)],
        env=os.environ | one_thread,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or not result.is_file():
        sys.exit(f"{script} failed under {python}:\n{done.stderr[-3000:]}")
    return read(str(result))


def main() -> None:
    """Run both sides and print them."""
    if len(sys.argv) == 3 and sys.argv[1].endswith(".json"):
        import torch

        torch.set_num_threads(1)
        task = read(sys.argv[1])
        side = {"generate": ours, "again": again, "meanings": our_meanings}[task["kind"]]
        write(sys.argv[2], side(task))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    counts = {"n": 100, "draws": 10, "tokens": 32, "batch": 8, "shots": 5, "rows": 0}
    for name, value in counts.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--attentions", action="store_true")
    parser.add_argument("--ideas", action="store_true")
    parser.add_argument("--model", default="")
    there = HERE.parents[1] / ".venv-peers" / "bin" / "python"
    here = find_spec("lm_polygraph") is not None
    parser.add_argument("--python", default=sys.executable if here else str(there))
    parser.add_argument("--data", default=os.environ.get("SAYSO_TEST_DATA", ""))
    parser.add_argument("--save", default="")
    args = parser.parse_args()
    if not Path(args.python).is_file():
        sys.exit(f"no lm-polygraph under {args.python}: make bench-peers installs it")
    kept: dict[str, Any] = {"settings": vars(args)}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        real_lm = real_model(args.model, args.n) if args.model else None
        lm, nli = folders(root, args.n, args.shots)
        lm, asked = real_lm or (lm, prompts(args.n, args.shots))
        task = vars(args) | {
            "kind": "generate", "lm": str(lm), "nli": str(nli), "prompts": asked, "seed": 0,
        }  # fmt: skip
        print({k: v for k, v in vars(args).items() if k not in ("python", "data", "save")})
        mine = elsewhere(sys.executable, "peers.py", task, root)
        peer = elsewhere(args.python, "peers_lm_polygraph.py", task, root)
        print_generation(peer, mine)
        found = elsewhere(
            sys.executable, "peers.py", task | {"kind": "again", "kept": peer["kept"]}, root
        )
        print_equality(peer, mine, found)
        kept |= {"peer": peer | {"kept": None}, "sayso": mine | {"greedy": None}, "again": found}
        file = Path(args.data) / "uqnlg" / "triviaqa_20_samples.jsonl"
        if not (args.data and file.is_file()):
            print("\n  real samples: skipped, SAYSO_TEST_DATA holds no uqnlg")
        else:
            with file.open(encoding="utf-8") as stream:
                rows = [json.loads(text) for text in stream]
            rows = rows[: args.n]
            real = task | {
                "kind": "meanings",
                "questions": [row["question"] for row in rows],
                "samples": [row["samples"][: args.draws] for row in rows],
            }
            theirs = elsewhere(args.python, "peers_lm_polygraph.py", real, root)
            own = elsewhere(sys.executable, "peers.py", real, root)
            print_meanings(theirs, own, len(rows))
            kept |= {
                "real": {"peer": theirs["nli"], "sayso": {k: v["nli"] for k, v in own.items()}}
            }
    if args.save:
        write(args.save, kept)


if __name__ == "__main__":
    main()
