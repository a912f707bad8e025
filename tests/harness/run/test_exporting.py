"""A text encoder under a mitigator as a model: sentence-transformers loads it by itself."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
from string import ascii_lowercase
from unittest.mock import create_autospec

import httpx
import huggingface_hub
import numpy as np
import pytest
from huggingface_hub.errors import HfHubHTTPError

import harness
from harness.commands.main import run
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable, UsageError
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
MITIGATORS = {
    "plain": ["none", "leace", "inlp", "whitening", "hard-debias?normalize=false"],
    "unit": [
        *("normalize", "leace", "hard-debias", "half-sibling-regression?alpha=0.1"),
        "amplify-bias?strength=2",
        *("multiclass-hard-debias?k=2", "whitening+leace", "context-injection+sent-debias"),
    ],
    "router": ["sent-debias", "leace?normalize=false", "leace+normalize", "context-injection"],
}
"""Each mitigator on a kind of base; a long test has all of them on all kinds."""
PAIRED = [(kind, mitigator) for kind, listed in MITIGATORS.items() for mitigator in listed]
ROLES = ("text", "query", "document")
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
            max_position_embeddings=512,
        )
    ).save_pretrained(plain)

    def transformer(seed):
        step = Transformer(str(plain), max_seq_length=512)
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
def written(bases, tmp_path_factory):
    """What `debias` says of each base under some mitigators."""
    return {
        (kind, mitigator): export(bases, kind, mitigator, tmp_path_factory.mktemp("exported"))
        for kind, mitigator in PAIRED
    }


def export(bases, kind, mitigator, folder):
    out = folder / kind / name_of(mitigator)
    return harness.debias(str(bases[kind]), mitigator, out, concept=concept_of(mitigator))


loaded = functools.cache(Registry().embedder)


def vectors_of_eval(model, mitigator):
    """Return the vectors that metrics get of the texts, by role."""
    embedder = loaded(str(model))
    chain = Registry().mitigator(mitigator).fit(embedder, concept_of(mitigator))
    texts = chain.rewrite(TEXTS)
    return {role: chain.transform(embedder.encode(texts, role=role), TEXTS) for role in ROLES}


def assert_same(found, expected, what=""):
    scale = np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=1e-6, err_msg=what)


@pytest.mark.parametrize(("kind", "mitigator"), PAIRED)
def test_the_library_gets_the_vectors_of_an_evaluation(bases, written, kind, mitigator):
    from sentence_transformers import SentenceTransformer

    entry = written[kind, mitigator]
    steps = json.loads((entry.path / "modules.json").read_text())
    assert all(step["type"].startswith("sentence_transformers.") for step in steps)
    model = SentenceTransformer(str(entry.path), device="cpu")
    encoders = (model.encode, model.encode_query, model.encode_document)
    expected = vectors_of_eval(bases[kind], mitigator)
    for role, encode in zip(ROLES, encoders, strict=True):
        assert_same(encode(TEXTS), expected[role], role)
    assert entry.difference < 1e-6
    assert not list(entry.path.parent.glob(".*")), "a temporary folder is left"


@pytest.mark.long
def test_a_process_without_the_harness_gets_the_vectors_of_an_evaluation(bases, tmp_path):
    mitigators = sorted({mitigator for _, mitigator in PAIRED})
    entries = {
        (kind, mitigator): export(bases, kind, mitigator, tmp_path)
        for kind in MITIGATORS
        for mitigator in mitigators
    }
    folders = [str(entry.path) for entry in entries.values()]
    code = LOADING.format(texts=TEXTS, folders=folders)
    subprocess.run([sys.executable, "-I", "-c", code, tmp_path / "vectors.npz"], check=True)
    with np.load(tmp_path / "vectors.npz") as vectors:
        for (kind, mitigator), entry in entries.items():
            expected = vectors_of_eval(bases[kind], mitigator)
            for role in ROLES:
                what = f"{entry.path} {role}"
                assert_same(vectors[what], expected[role], what)


ASSOCIATION = {
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


@pytest.mark.parametrize(
    ("kind", "mitigator", "task"),
    [
        ("unit", "context-injection+sent-debias", ASSOCIATION),
        ("router", "leace", "retrieval-army"),  # queries and documents take routes of their own
    ],
)
def test_the_folder_is_a_model_of_the_harness_with_the_same_records(
    bases, tmp_path, kind, mitigator, task
):
    harness.debias(str(bases[kind]), mitigator, tmp_path / "model", concept="gender")
    before = harness.evaluate(str(bases[kind]), task, mitigator, concept="gender")
    after = harness.evaluate(str(tmp_path / "model"), task)
    assert len(before) == len(after) > 1
    for a, b in zip(before, after, strict=True):
        assert (a.task.name, a.scenario, a.score) == (b.task.name, b.scenario, b.score)
        assert a.value is not None
        assert b.value == pytest.approx(a.value, abs=1e-6)


@pytest.mark.parametrize(
    "mitigator",
    ["hard-debias", "half-sibling-regression?alpha=0.1", "multiclass-hard-debias?k=2"],
)
def test_only_words_about_the_concept_have_other_vectors_than_in_an_evaluation(bases, mitigator):
    embedder, concept = loaded(str(bases["unit"])), concept_of(mitigator)
    chain = Registry().mitigator(mitigator).fit(embedder, concept)
    about = [word for group in (*PAIRS, *SETS) for word in group]
    texts = [*TEXTS, *TOY, *about, *(f"the {word} said" for word in about)]
    vectors = embedder.encode(texts)
    under, mapped = chain.transform(vectors, texts), chain.as_map().apply(vectors)
    differ = ~np.isclose(under, mapped, rtol=0, atol=1e-6).all(axis=1)
    (stage,) = chain.mitigators
    left = {*stage.left_alone_, *getattr(stage, "equalized_", {})}
    assert {text for text, is_other in zip(texts, differ, strict=True) if is_other} <= left
    assert differ.any()


def test_linear_steps_become_one_and_a_length_of_1_is_not_set_twice(written):
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


def test_roles_and_prompts_of_the_base_are_kept(bases, written):
    folder = written["unit", "leace"].path
    settings = json.loads((folder / "config_sentence_transformers.json").read_text())
    assert settings["prompts"] == {"query": "query : ", "document": "", "sts": "this is "}
    assert settings["default_prompt_name"] == "sts"
    infos = [Registry().embedder(str(path)).info for path in (folder, bases["unit"])]
    assert infos[0].role_prompts == infos[1].role_prompts
    routes = [Registry().embedder(str(path)).info.routes for path in (
        written["router", "sent-debias"].path, bases["router"],
    )]  # fmt: skip
    assert routes[0] == routes[1] == {"text": "document", "query": "query", "document": "document"}


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
        expected = vectors_of_eval(bases["plain"], mitigator)["text"]
        np.testing.assert_allclose(found, expected, atol=1e-5)
        # As the folder is read by everything that knows the library's layout, such as the harness.
        again = Registry().embedder(f"sentence-transformers:{folder}?backend=onnx", device="cpu")
        np.testing.assert_allclose(again.encode(TEXTS), expected, atol=1e-5)
    with pytest.raises(NotApplicable, match="begins with Router"):
        harness.debias(str(bases["router"]), "leace", tmp_path / "r", concept=CONCEPT, onnx=True)
    assert not (tmp_path / "r").exists()


# The card.


def test_a_card_without_results_has_no_scores_and_says_how_to_get_them(written):
    card = (written["unit", "leace"].path / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: sentence-transformers\n")
    assert "None are given" in card
    assert "harness eval --model unit --mitigator none --mitigator leace" in card
    assert str(written["unit", "leace"].path.parent) not in card
    assert "## What it does not remove" in card
    assert "was not measured" in card
    assert "she" in card
    assert "unknown: the harness knows none" in card  # its licence


TASKS = ["residual-bias-sentences", "gender-occupations", "ws-353"]


@pytest.fixture(scope="module")
def results(bases, tmp_path_factory):
    """Records of a base without and under two mitigators."""
    folder = tmp_path_factory.mktemp("records") / "results"
    harness.evaluate(str(bases["unit"]), TASKS, ["none", "leace", "hard-debias"], results=folder)
    return folder


def numbers_of(records):
    """Return the numbers that a card states of two records of a task, as it writes them."""
    found = []
    for record in records:
        interval, ratio = record.interval, record.ratio
        found += [record.value, *((interval.low, interval.high) if interval else ())]
        found += [record.floor.mean] if record.floor else []
        found += [ratio.value, ratio.low, ratio.high] if ratio else []
    return [f"{number:z.3f}" for number in found if number is not None]


def assert_true(card, results, model, mitigator):
    """Assert that each number of a card is in the records, and that each of theirs is on it."""
    known = harness.read_results(results).select(model=model)
    before, after = (known.select(mitigator=label) for label in ("none", mitigator))
    stated = re.findall(r"(?<![\w.])-?\d+\.\d{3}(?!\d)", card)
    expected = []
    for a in before:
        (b,) = [record for record in after if record.task.name == a.task.name]
        a, b = a.judged(), b.judged()
        if b.value is None:
            assert f"`{a.task.name}`" not in card
            continue
        (line,) = [line for line in card.splitlines() if line.startswith(f"| `{a.task.name}` v")]
        cells = re.findall(r"-?\d+\.\d{3}", line)
        assert sorted(cells) == sorted(numbers_of([a, b]))
        expected += cells
        if a.score == "recoverability":
            found = [f"{b.value:z.3f}", f"{a.value:z.3f}", "0.500"]
            assert (
                "`{}`: a classifier finds the group of {} of the texts, of {} before".format(
                    a.task.name, *found
                )
                in card
            )
            expected += found
    of_verdict = harness.compare(before, after, folder=results).verdict.sentences()
    for sentence in of_verdict:
        assert sentence in card.replace("\\[", "[").replace("\\]", "]")
        expected += re.findall(r"-?\d+\.\d{3}", sentence)
    assert sorted(stated) == sorted(expected), "a number of the card is in no record"


def assert_of_folder(entry, results, mitigator):
    """Assert that an evaluation of the folder gives the scores after of its card."""
    after = harness.read_results(results).select(mitigator=mitigator)
    found = harness.evaluate(str(entry.path), TASKS).select()
    assert {record.task.name for record in found} == set(TASKS)
    for record in found:
        (expected,) = [other for other in after if other.task.name == record.task.name]
        assert record.value == pytest.approx(expected.value, abs=1e-6)


def test_each_number_of_a_card_is_that_of_a_record_and_of_the_folder(bases, results, tmp_path):
    entry = harness.debias(str(bases["unit"]), "leace", tmp_path / "model", results=results)
    card = (entry.path / "README.md").read_text()
    assert entry.scores == len(TASKS) - 1
    assert_true(card, results, "unit", "leace")
    assert_of_folder(entry, results, "leace")
    concept = Registry().concept("gender")
    fitted = Registry().mitigator("leace").fitting_texts(concept)
    assert f"the concept `gender`, {len(fitted)} texts: {fitted[0]}," in card
    (record,) = harness.read_results(results).select(mitigator="leace", task=TASKS[0])
    assert f"`leace`, fingerprint `{record.mitigator.fingerprint}`" in card
    assert f"fingerprint `{record.model.fingerprint}`" in card


def test_where_a_mitigator_does_more_the_scores_are_those_of_the_folder_itself(
    bases, results, tmp_path
):
    results = shutil.copytree(results, tmp_path / "results")
    asked = (str(bases["unit"]), "hard-debias", tmp_path / "model")
    with pytest.raises(UsageError, match="and of the folder itself"):
        harness.debias(*asked, results=results)
    assert not asked[2].exists()
    harness.debias(*asked)
    own = harness.evaluate(str(asked[2]), TASKS, results=results)
    entry = harness.debias(*asked, results=results, overwrite=True)
    card = (entry.path / "README.md").read_text()
    assert "The scores after are those of this model itself" in card
    void, *shown = sorted((r.judged() for r in own.select()), key=lambda r: r.value is not None)
    assert (void.task.name, void.reason) == ("gender-occupations", FITTED)
    assert f"not judged: gender: {FITTED}" in card
    assert "| `gender-occupations`" not in card
    for record in shown:
        (line,) = [ln for ln in card.splitlines() if ln.startswith(f"| `{record.task.name}` ")]
        assert f"{record.value:.3f}" in line.split("|")[6]


# An evaluation reads in the card what the model was fitted on.

FITTED = "the model was fitted on words of the task"
OWN_WORDS = {
    **ASSOCIATION,
    "name": "own-words",
    "inputs": {
        **ASSOCIATION["inputs"],
        "attributes_1": {"words": ["he", "man", "boy"]},
        "attributes_2": {"words": ["she", "woman", "girl"]},
    },
}


def judged(model, *mitigators):
    """Return how the score of each of two tasks is judged, by task and mitigator."""
    records = harness.evaluate(str(model), [ASSOCIATION, OWN_WORDS], mitigators or "none")
    primary = [record for record in records if record.primary]
    return {(r.task.name, r.mitigator.name): r.unseen for r in primary}, records.notices


@pytest.mark.parametrize("mitigator", ["hard-debias", "context-injection+sent-debias"])
def test_a_model_is_not_judged_on_what_its_card_says_it_was_fitted_on(bases, tmp_path, mitigator):
    before, _ = judged(bases["unit"])
    assert {part.kind for part in before.values()} == {"unseen texts"}
    harness.debias(str(bases["unit"]), mitigator, tmp_path / "model", concept="gender")
    after, _ = judged(tmp_path / "model", "none", "normalize")
    for label in ("none", "normalize"):
        assert after["toy-association", label].kind == "unseen texts"
        assert after["own-words", label].kind == "void"
        assert after["own-words", label].reason == FITTED
    # What is written of it again was fitted on the same texts, and so is the model in memory.
    again = harness.debias(str(tmp_path / "model"), "normalize", tmp_path / "again")
    assert judged(again.path)[0]["own-words", "none"].kind == "void"
    model = changed(again.path)
    assert harness.evaluate(model, OWN_WORDS)[0].unseen.kind == "void"


def changed(path):
    """Return a model in memory that its folder does not have anymore."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(path), device="cpu")
    with torch.no_grad():
        next(model.parameters()).mul_(1.01)
    return model


class Unstated(Mitigator):
    """Is fitted, and does not say on what."""

    needs = ("definitional_pairs",)

    def transform(self, vectors, texts):
        return vectors

    def as_map(self):
        return Map()


def test_a_fit_that_is_not_stated_does_not_rank_and_is_one_line(bases, tmp_path):
    harness.debias(str(bases["unit"]), Unstated(), tmp_path / "model", concept=CONCEPT)
    parts, notices = judged(tmp_path / "model")
    assert {part.kind for part in parts.values()} == {"fit not stated"}
    (line,) = [line for line in notices if "does not list the texts that it was fitted on" in line]
    assert "do not rank" in line


# The hub.


def test_a_model_is_pushed_to_the_hub(bases, tmp_path, monkeypatch, capsys):
    api = create_autospec(huggingface_hub.HfApi, instance=True)
    api.upload_folder.return_value.commit_url = "https://hub.example/me/fair/commit/1"
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: api)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)

    def pushed(name):
        options = ["-m", bases["unit"], "-M", "normalize", "-o", tmp_path / name, "--json"]
        code = run(["debias", *map(str, options), "--push", "me/fair"])
        return code, *capsys.readouterr()

    code, out, err = pushed("model")
    assert code == 0, err
    assert json.loads(out)["url"] == "https://hub.example/me/fair/commit/1"
    assert api.upload_folder.call_args.kwargs["folder_path"] == tmp_path / "model"
    response = httpx.Response(401, request=httpx.Request("POST", "https://hub.example"))
    api.create_repo.side_effect = HfHubHTTPError("Unauthorized", response=response)
    code, out, err = pushed("again")
    assert (code, out) == (1, "")
    assert "is written, but the hub did not take it" in err
    assert "hf auth login" in err
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
    with pytest.raises(UsageError, match="is the model itself"):
        harness.debias(f"sentence-transformers:{out}?dimensions=6", "none", out, overwrite=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="no folder of a model"):
        harness.debias(str(bases["unit"]), "normalize", tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
