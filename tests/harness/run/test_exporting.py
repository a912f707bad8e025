"""A text encoder under a mitigator as a model: sentence-transformers loads it by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from string import ascii_lowercase

import numpy as np
import pytest
from hub_server import COMMIT, TOKEN, Hub

import harness
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import DiskError, NotApplicable, UsageError
from harness.mitigator import Affine, Map, Mitigator
from harness.plugins.mitigators.fitting.sentences import TEMPLATES, neutral_sentences
from harness.registry.registry import Registry

PAIRS = [
    *(("she", "he"), ("woman", "man"), ("mother", "father"), ("girl", "boy")),
    *(("sister", "brother"), ("aunt", "uncle"), ("wife", "husband"), ("daughter", "son")),
]
SETS = [("church", "mosque", "temple"), ("bible", "quran", "torah"), ("priest", "imam", "rabbi")]
CONTEXT = "The gender is unknown."
TEXTS = [
    *("The nurse asked the doctor a question.", "nurse", "plumber!", "a good career"),
    *("The teacher is at home ", "It was said that prices rose", "She is a doctor", "hello ?"),
]
TOY = [
    *("a good career", "the office", "teacher", "the doctor is good"),
    *("a good family", "home", "nurse", "the art of this story"),
    *("he is here", "the man asked", "this is a boy"),
    *("she is here", "the woman asked", "this is a girl"),
]
MITIGATORS = [
    *("none", "normalize", "leace", "leace?normalize=false", "inlp", "sent-debias", "whitening"),
    *("half-sibling-regression?alpha=0.1", "hard-debias", "multiclass-hard-debias?k=2"),
    *("hard-debias?normalize=false", "context-injection", "whitening+leace", "leace+normalize"),
    "context-injection+sent-debias",
]
ROLES = ("text", "query", "document")
KINDS = ("plain", "unit", "router")
CONCEPT = Concept(
    name="toy",
    definitional_pairs=PAIRS,
    equalize_sets=PAIRS[:3],
    specific_words=["priest"],
    contexts={"debiasing": CONTEXT},
)
RELIGION = Concept(name="belief", definitional_sets=SETS, equalize_sets=SETS[:1])

LOADING = """
import sys, warnings
sys.modules["harness"] = None  # an import of it fails
import numpy as np
from sentence_transformers import SentenceTransformer
texts = {texts!r}
found = {{}}
for folder in {folders!r}:
    model = SentenceTransformer(folder, device="cpu")
    for role, encode in (
        ("text", model.encode), ("query", model.encode_query), ("document", model.encode_document)
    ):
        found[folder + " " + role] = encode(texts)
np.savez(sys.argv[1], **found)
"""


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """Tiny encoders: plain, of unit length with prompts, and one with routes; read-only."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Router, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = [word for group in (*PAIRS, *SETS) for word in group]
    texts = " ".join([*words, *neutral_sentences(), *TEMPLATES, *TEXTS, *TOY, CONTEXT, "query : "])
    known = dict.fromkeys(re.findall(r"\w+|[^\w\s]", texts.lower()))
    letters = [f"{before}{letter}" for letter in ascii_lowercase for before in ("", "##")]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys([*known, *letters])]
    plain = tmp_path_factory.mktemp("bert")
    BertTokenizerFast(vocab={w: i for i, w in enumerate(vocabulary)}).save_pretrained(plain)
    BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
        )
    ).save_pretrained(plain)

    def transformer(seed):
        step = Transformer(str(plain), max_seq_length=32)
        torch.manual_seed(seed)
        for name, weights in step.named_parameters():
            # Vectors of different texts differ, as those of a trained encoder.
            if "LayerNorm" not in name:
                torch.nn.init.normal_(weights, std=1.0 if "word_embeddings" in name else 0.1)
        return step

    prompts = {"query": "query : ", "sts": "this is "}
    ways = {"query": transformer(1), "document": transformer(2)}
    router = Router(
        {route: [step, Pooling(16)] for route, step in ways.items()}, default_route="document"
    )
    models = {
        "plain": SentenceTransformer(modules=[transformer(3), Pooling(16)], device="cpu"),
        "unit": SentenceTransformer(
            modules=[transformer(4), Pooling(16), Normalize()],
            device="cpu",
            prompts=prompts,
            default_prompt_name="sts",
        ),
        "router": SentenceTransformer(modules=[router, Normalize()], device="cpu", prompts=prompts),
    }
    folders = {}
    for kind, model in models.items():
        folders[kind] = tmp_path_factory.mktemp("bases") / kind
        model.save(str(folders[kind]), create_model_card=False)
    return folders


def concept_of(mitigator):
    return RELIGION if mitigator.startswith("multiclass") else CONCEPT


def name_of(mitigator):
    return re.sub(r"\W+", "-", mitigator)


@pytest.fixture(scope="module")
def exported(bases, tmp_path_factory):
    """Each base under each mitigator, and what a process without the harness gets of them."""
    out = tmp_path_factory.mktemp("exported")
    written = {
        (kind, mitigator): harness.debias(
            str(bases[kind]),
            mitigator,
            out / kind / name_of(mitigator),
            concept=concept_of(mitigator),
        )
        for kind in KINDS
        for mitigator in MITIGATORS
    }
    folders = [str(entry.path) for entry in written.values()]
    code = LOADING.format(texts=TEXTS, folders=folders)
    subprocess.run([sys.executable, "-I", "-c", code, out / "vectors.npz"], check=True)
    with np.load(out / "vectors.npz") as vectors:
        return written, dict(vectors)


def vectors_of_eval(model, mitigator, role="text"):
    """Return the vectors that metrics get of the texts."""
    embedder = Registry().embedder(model)
    chain = Registry().mitigator(mitigator).fit(embedder, concept_of(mitigator))
    encoded = embedder.encode(chain.rewrite(TEXTS), role=role)
    return chain.transform(encoded, TEXTS)


@pytest.mark.parametrize("mitigator", MITIGATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_library_alone_gets_the_vectors_of_an_evaluation(bases, exported, kind, mitigator):
    written, vectors = exported
    entry = written[kind, mitigator]
    for role in ROLES:
        expected = vectors_of_eval(str(bases[kind]), mitigator, role)
        found = vectors[f"{entry.path} {role}"]
        scale = np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1)
        np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=1e-6, err_msg=role)
    assert entry.difference < 1e-6
    assert not list(entry.path.parent.glob(".*")), "a temporary folder is left"


@pytest.mark.parametrize("mitigator", ["leace", "context-injection+sent-debias"])
def test_the_folder_is_a_model_of_the_harness_with_the_same_records(bases, exported, mitigator):
    written, _ = exported
    entry = written["unit", mitigator]
    task = {
        "name": "toy-association",
        "version": 1,
        "title": "Toy",
        "source": "this test",
        "licence": "MIT",
        "description": "Toy",
        "category": "gender",
        "concept": "gender",
        "kinds": ["text"],
        "inputs": {
            "targets_1": {"words": TOY[:4]},
            "targets_2": {"words": TOY[4:8]},
            "attributes_1": {"words": TOY[8:11]},
            "attributes_2": {"words": TOY[11:]},
        },
        "metrics": {"weat": {}},
        "primary": {"metric": "weat", "score": "association"},
    }
    assert entry.concept == "toy"
    out = entry.path.parents[1] / "records" / name_of(mitigator)
    harness.debias(str(bases["unit"]), mitigator, out, concept="gender")
    before = harness.evaluate(str(bases["unit"]), task, mitigator, concept="gender")
    after = harness.evaluate(str(out), task)
    assert [r.value is not None for r in before] == [r.value is not None for r in after]
    assert len(before) == len(after) > 1
    for a, b in zip(before, after, strict=True):
        assert (a.task.name, a.scenario, a.score) == (b.task.name, b.scenario, b.score)
        assert b.value == pytest.approx(a.value, abs=1e-6)


def test_linear_steps_become_one_and_a_length_of_1_is_not_set_twice(exported):
    written, _ = exported

    def modules(kind, mitigator):
        listed = json.loads((written[kind, mitigator].path / "modules.json").read_text())
        return [entry["type"].rpartition(".")[2] for entry in listed]

    assert modules("plain", "none") == ["Transformer", "Pooling"]
    assert modules("plain", "leace") == ["Transformer", "Pooling", "Normalize", "Dense"]
    assert modules("unit", "leace") == ["Transformer", "Pooling", "Normalize", "Dense"]
    assert modules("router", "sent-debias") == ["Router", "Normalize", "Dense", "Normalize"]
    assert modules("unit", "whitening+leace") == [
        *("Transformer", "Pooling", "Normalize", "Dense", "Normalize", "Dense"),
    ]
    turn = Map((Affine(np.array([[0.0, 2.0], [1.0, 0.0]]), np.ones(2)),))
    (step,) = turn.then(turn).then(Map()).steps
    np.testing.assert_array_equal(step.matrix, 2 * np.eye(2))
    np.testing.assert_array_equal(step.offset, [3, 2])
    np.testing.assert_array_equal(turn.then(turn).apply(np.eye(2)), [[5, 2], [3, 4]])


def test_roles_and_prompts_of_the_base_are_kept(bases, exported):
    written, _ = exported
    folder = written["unit", "leace"].path
    settings = json.loads((folder / "config_sentence_transformers.json").read_text())
    assert settings["prompts"] == {"query": "query : ", "document": "", "sts": "this is "}
    assert settings["default_prompt_name"] == "sts"
    infos = [Registry().embedder(str(path)).info for path in (folder, bases["unit"])]
    assert infos[0].role_prompts == infos[1].role_prompts
    routes = [Registry().embedder(str(path)).info.routes for path in (
        written["router", "leace"].path, bases["router"],
    )]  # fmt: skip
    assert routes[0] == routes[1] == {"text": "document", "query": "query", "document": "document"}


@pytest.mark.parametrize(
    "options",
    ["dimensions=6", "normalize=true", "prompt=", "prompt=good : ", "max_length=9", "pooling=max",
     "dimensions=6&normalize=true&query_prompt=bad : "],
)  # fmt: skip
def test_options_of_the_model_are_part_of_what_is_written(bases, tmp_path, options):
    name = f"sentence-transformers:{bases['unit']}?{options}"
    harness.debias(name, "sent-debias", tmp_path / "model", concept=CONCEPT)
    for role in ROLES:
        found = Registry().embedder(str(tmp_path / "model")).encode(TEXTS, role=role)
        expected = vectors_of_eval(name, "sent-debias", role)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=role)


def test_a_model_in_memory_is_written_too(bases, tmp_path):
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(bases["unit"]), device="cpu")
    with torch.no_grad():
        next(model.parameters()).mul_(1.5)  # as if it were trained
    entry = harness.debias(model, "leace", tmp_path / "model", concept=CONCEPT)
    assert entry.difference < 1e-6
    found = SentenceTransformer(str(entry.path), device="cpu").encode(TEXTS)
    own = Map((entry_step(entry.path),)).apply(model.encode(TEXTS))
    np.testing.assert_allclose(found, own, atol=1e-6)


def entry_step(folder):
    """Return the affine step that was saved as a module."""
    from safetensors.numpy import load_file

    (file,) = folder.glob("*_Dense/model.safetensors")
    weights = load_file(file)
    return Affine(weights["linear.weight"], weights["linear.bias"])


def test_the_graph_has_the_vectors_of_the_model(bases, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    from sentence_transformers import SentenceTransformer

    for mitigator in ("leace", "context-injection+sent-debias"):
        folder = tmp_path / name_of(mitigator)
        entry = harness.debias(str(bases["plain"]), mitigator, folder, concept=CONCEPT, onnx=True)
        tokens = SentenceTransformer(str(folder), device="cpu").preprocess(TEXTS)
        session = onnxruntime.InferenceSession(str(entry.onnx))
        arrays = {put.name: tokens[put.name].numpy() for put in session.get_inputs()}
        (found,) = session.run(["sentence_embedding"], arrays)
        expected = vectors_of_eval(str(bases["plain"]), mitigator)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        # As the folder is read by everything that knows the library's layout, such as the harness.
        run = Registry().embedder(f"sentence-transformers:{folder}?backend=onnx", device="cpu")
        np.testing.assert_allclose(run.encode(TEXTS), expected, atol=1e-5)
    with pytest.raises(NotApplicable, match="begins with Router"):
        harness.debias(str(bases["router"]), "leace", tmp_path / "r", concept=CONCEPT, onnx=True)
    assert not (tmp_path / "r").exists()


# The card.


def test_a_card_without_results_has_no_scores_and_says_how_to_get_them(exported):
    written, _ = exported
    card = (written["unit", "leace"].path / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: sentence-transformers\n")
    assert "None are given" in card
    assert "harness eval --model unit --mitigator none --mitigator leace" in card
    assert str(written["unit", "leace"].path.parent) not in card
    assert "## What it does not remove" in card
    assert "was not measured" in card
    assert "she" in card
    assert "unknown: the harness knows none" in card  # its licence


def test_a_card_says_what_the_model_does_not_do(exported):
    written, _ = exported
    entry = written["unit", "hard-debias"]
    (line,) = entry.omits
    assert "equalises 6 words" in line
    assert line in (entry.path / "README.md").read_text()
    assert written["unit", "leace"].omits == ()


RECOVERABLE = "residual-bias-sentences"
TASKS = [RECOVERABLE, "gender-occupations"]


@pytest.fixture
def results(bases, tmp_path):
    """Records of a base without and under two mitigators."""
    harness.evaluate(
        str(bases["unit"]),
        TASKS,
        ["none", "leace", "hard-debias"],
        results=tmp_path / "results",
    )
    return tmp_path / "results"


def test_each_number_of_a_card_is_that_of_a_record(bases, results, tmp_path):
    entry = harness.debias(str(bases["unit"]), "leace", tmp_path / "model", results=results)
    card = (entry.path / "README.md").read_text()
    records = harness.read_results(results).select()
    assert entry.scores == 2
    by_row = {
        (record.task.name, record.mitigator.label): record
        for record in records
        if record.mitigator.concept in ("gender", None)
    }
    for task in TASKS:
        (line,) = [line for line in card.splitlines() if line.startswith(f"| `{task}` ")]
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        for cell, mitigator in zip(cells[4:6], ("none", "leace"), strict=True):
            record = by_row[task, mitigator]
            assert cell.startswith(f"{record.value:z.3f}")
            if record.interval:
                assert f" \\[{record.interval.low:z.3f}, " in cell
    before, after = (by_row[RECOVERABLE, label].value for label in ("none", "leace"))
    assert f"of {after:.3f} of the texts, of {before:.3f} before; chance is 0.500" in card


def test_where_a_mitigator_does_more_the_scores_are_those_of_the_folder_itself(
    bases, results, tmp_path
):
    asked = (str(bases["unit"]), "hard-debias", tmp_path / "model")
    with pytest.raises(UsageError, match="and of the folder itself"):
        harness.debias(*asked, results=results)
    assert not asked[2].exists()
    harness.debias(*asked)
    own = harness.evaluate(str(asked[2]), TASKS, results=results)
    entry = harness.debias(*asked, results=results, overwrite=True)
    card = (entry.path / "README.md").read_text()
    assert "The scores after are those of this model itself" in card
    for record in own.select():
        (line,) = [ln for ln in card.splitlines() if ln.startswith(f"| `{record.task.name}` ")]
        assert f"{record.value:.3f}" in line.split("|")[6]


# The hub.


def test_a_model_is_pushed_to_the_hub_and_the_token_is_not_printed(bases, tmp_path):
    def pushed(out, token, *options):
        command = [
            *(sys.executable, "-c", "from harness.commands.main import main; main()", "debias"),
            *(
                "--model",
                bases["unit"],
                "-M",
                "normalize",
                "--out",
                out,
                "--push",
                "me/fair",
                *options,
            ),
        ]
        environment = os.environ | hub.environment | {"HF_TOKEN": token}
        return subprocess.run(
            list(map(str, command)), env=environment, capture_output=True, text=True
        )

    with Hub() as hub:
        done = pushed(tmp_path / "model", TOKEN, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["url"] == f"{hub.url}/me/fair/commit/{COMMIT}"
        files = {
            path.relative_to(tmp_path / "model").as_posix(): path.read_bytes()
            for path in (tmp_path / "model").rglob("*")
            if path.is_file()
        }
        assert hub.repositories == {"me/fair": files}
        assert TOKEN not in done.stdout + done.stderr
        refused = pushed(tmp_path / "again", "hf_wrongSecret")
        assert refused.returncode == 1
        assert "is written, but the hub did not take it" in refused.stderr
        assert "hf_wrongSecret" not in refused.stdout + refused.stderr
        assert (tmp_path / "again" / "modules.json").exists()


# Mistakes.


class Bent(Mitigator):
    """A mitigator whose map is another one."""

    def transform(self, vectors, texts):
        return np.asarray(vectors, dtype=np.float32)

    def as_map(self):
        return Map((Affine(2 * np.eye(16)),))


class Curved(Mitigator):
    """A mitigator that is no map."""

    def transform(self, vectors, texts):
        return np.abs(vectors)


def test_a_mistake_is_one_line_and_nothing_is_written(bases, tmp_path, monkeypatch):
    base, out = str(bases["unit"]), tmp_path / "model"

    def refused(error, *arguments, **options):
        options = {"concept": CONCEPT, **options}
        with pytest.raises(error) as raised:
            harness.debias(*arguments, **options)
        assert {path.name for path in tmp_path.iterdir()} <= {"cache"}
        (line,) = str(raised.value).splitlines()
        return line

    assert "without a model of" in refused(NotApplicable, MockEmbedder("text"), "leace", out)
    assert "without a model of" in refused(
        NotApplicable, lambda texts: [[1.0]] * len(texts), "none", out
    )
    assert "a folder, not the file" in refused(UsageError, base, "leace", tmp_path / "m.bin")
    assert "no map" in refused(NotApplicable, base, Curved(), out)
    assert "rewrites texts" in refused(NotApplicable, base, "anonymize", out)
    assert "as_map" in refused(harness.HarnessError, base, Bent(), out)
    assert "does not work on text encoders" in refused(NotApplicable, base, "ran", out)
    assert "none is given" in refused(NotApplicable, base, "leace", out, concept=None)
    assert "format is for word vectors" in refused(UsageError, base, "leace", out, format="gensim")
    assert "onnx is for text" in refused(
        UsageError, MockEmbedder("word"), "normalize", out, onnx=True
    )
    half = f"sentence-transformers:{base}?precision=bfloat16"
    assert "in float32" in refused(NotApplicable, half, "leace", out)
    assert "no scores" in refused(UsageError, base, "leace", out, results=tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    assert "push" in refused(UsageError, base, "leace", out, push="not a name")


def test_a_folder_is_replaced_only_if_it_is_a_model_and_overwrite_is_set(bases, tmp_path):
    out = tmp_path / "model"
    harness.debias(str(bases["unit"]), "normalize", out)
    (out / "old").write_text("old")
    with pytest.raises(UsageError, match="exists already"):
        harness.debias(str(bases["unit"]), "normalize", out)
    harness.debias(str(bases["unit"]), "normalize", out, overwrite=True)
    assert not (out / "old").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="no folder of a model"):
        harness.debias(str(bases["unit"]), "normalize", tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"


def test_a_folder_that_cannot_be_written_is_one_line(bases, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="cannot write"):
        harness.debias(str(bases["unit"]), "normalize", tmp_path / "file" / "model")
