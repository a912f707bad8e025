"""Three tiny encoders, entered into the registry of mteb under names and revisions of their own.

They read letters, so that every text has a vector of its own and nothing is fetched.

==========  ======================================================================================
`plain`     no prompts
`prompted`  prompts by task type and role, which the registry states
`asked`     an instruction before each text, which depends on the type of the task
==========  ======================================================================================
"""

import functools
from pathlib import Path

NAMES = ("tests/plain", "tests/prompted", "tests/asked")
PROMPTS = {"STS": "similar: ", "Retrieval-query": "query: ", "Retrieval-document": "passage: "}
INSTRUCTION = "Instruct: {instruction}\nQuery: "


def entered(folder: Path) -> dict[str, object]:
    """Save the encoders below a folder, and return their entries of mteb's registry by name."""
    from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    loaders = (
        (SentenceTransformerEncoderWrapper, {}),
        (SentenceTransformerEncoderWrapper, {"model_prompts": PROMPTS}),
        (InstructSentenceTransformerModel, {"instruction_template": INSTRUCTION}),
    )
    metas = {}
    for seed, (name, (loader, arguments)) in enumerate(zip(NAMES, loaders, strict=True)):
        path = folder / name
        encoder_of_letters(seed).save(str(path), create_model_card=False)
        metas[name] = meta(name, functools.partial(from_folder, str(path), loader), **arguments)
    return metas


def from_folder(path, loader, name, revision=None, **arguments):
    """Load a model as mteb does, from a folder in place of the hub."""
    return loader(path, revision=revision, **arguments)


def meta(name, loader, /, **arguments):
    """Return an entry of mteb's registry."""
    from mteb.models import ModelMeta

    return ModelMeta.create_empty(
        overwrites={
            "name": name,
            "revision": "a1b2c3",
            "loader": loader,
            "loader_kwargs": arguments,
            "languages": ["eng-Latn", "deu-Latn"],
            "license": "mit",
            "embed_dim": 12,
        }
    )


def encoder_of_letters(seed):
    """Return an encoder whose vectors are means of random vectors of the letters of a text."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split

    letters = {chr(code): code - 31 for code in range(32, 256)}
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0} | letters, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    torch.manual_seed(seed)
    module = StaticEmbedding(tokenizer, embedding_dim=12)
    return SentenceTransformer(modules=[module], device="cpu")
