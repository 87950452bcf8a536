#!/usr/bin/env python3
"""Makes minilm.table; README.md beside this file has the command, the inputs and what the table consists of.

    make.py MODEL OUT --count FILE... [--measure XQUAD]

MODEL is a folder with model.safetensors and tokenizer.json. Needs numpy, safetensors and tokenizers. Numbers are
computed in 64 bits, so that processors that round differently give the same table after its rounding to 8 bits.
"""

import argparse
import hashlib
import json
import struct
import unicodedata
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

ENCODER = "all-MiniLM-L6-v2"
DIMENSIONS = 256
# A new version of how pieces are counted or weighed needs a new name.
WEIGHTS = "idf-1"
LAYERS, HEADS, CLS, SEP = 6, 12, 101, 102
# As in src/pieces.rs.
MAX_PIECE_BYTES = 32


class Encoder:
    """The forward pass of a BERT encoder with mean pooling."""

    def __init__(self, path):
        self.weights = {name: value.astype(np.float64) for name, value in load_file(path).items()}

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def means(self, ids):
        """Returns the mean of the last layer's vectors for each row of token ids."""
        batch, length = ids.shape
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:length]
        x = self.norm(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."
            parts = [self.linear(x, f"{name}attention.self.{part}") for part in ("query", "key", "value")]
            query, key, value = (part.reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for part in parts)
            scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen = (scores / scores.sum(-1, keepdims=True)) @ value
            seen = self.linear(seen.transpose(0, 2, 1, 3).reshape(x.shape), name + "attention.output.dense")
            x = self.norm(seen + x, name + "attention.output.LayerNorm")
            inner = gelu(self.linear(x, name + "intermediate.dense"))
            x = self.norm(self.linear(inner, name + "output.dense") + x, name + "output.LayerNorm")
        return x.mean(1)


def gelu(x):
    """x·Φ(x), with the error function of Abramowitz and Stegun, 7.1.26 (off by at most 1.5e-7)."""
    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return x * (1 + np.sign(x) * (1 - poly * np.exp(-z * z))) / 2


def each_alone(encoder, pieces):
    batches = (pieces[at : at + 16] for at in range(0, len(pieces), 16))
    return np.concatenate([encoder.means(np.array([[CLS, piece, SEP] for piece in batch])) for batch in batches])


def has_meaning(piece):
    """Tells whether all letters of a piece are Latin. Of other scripts, the encoder knows little but letters."""
    letters = (character for character in piece if unicodedata.category(character).startswith("L"))
    return all(unicodedata.name(letter).startswith("LATIN") for letter in letters)


def texts(path):
    """Yields the turns of meetings (`content`) and the paragraphs (`context`) in a file of JSON or of JSON lines."""
    def walk(value):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if key in ("content", "context"):
                yield inner
            elif isinstance(inner, (dict, list)):
                yield from walk(inner)

    text = Path(path).read_text(encoding="utf-8")
    for value in [json.loads(text)] if path.endswith(".json") else map(json.loads, text.splitlines()):
        yield from walk(value)


def count(tokenizer, paths):
    """Returns, for each piece, ln((n + 1) / (df + 1)), and its share of all that texts weigh by that."""
    found, holding, total = np.zeros(tokenizer.get_vocab_size()), np.zeros(tokenizer.get_vocab_size()), 0
    for path in paths:
        for text in texts(path):
            pieces = ids(tokenizer, text)
            np.add.at(found, pieces, 1)
            holding[list(set(pieces))] += 1
            total += 1
    print(f"counted {total} texts, {np.count_nonzero(found)} pieces")
    idf = np.log((total + 1) / (holding + 1))
    return idf, found * idf / (found @ idf)


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


def fewer_dimensions(rows, dimensions):
    """Projects rows on their main directions."""
    _, directions = np.linalg.eigh(rows.T @ rows)
    directions = directions[:, ::-1][:, :dimensions]
    # A direction has two ends. The largest component is positive, so that every library gives the same.
    return rows @ (directions * np.sign(directions[np.abs(directions).argmax(0), range(dimensions)]))


def in_bytes(rows):
    """Returns rows of signed bytes, and the scale of each row."""
    scales = np.abs(rows).max(1) / 127
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def fnv1a(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def packed(pieces, rows, weights):
    """Returns the file's bytes, and the model's name. `src/table.rs` reads them."""
    pieces = [piece.encode() for piece in pieces]
    assert max(map(len, pieces)) <= MAX_PIECE_BYTES + 2 and len(pieces) < 0xFFFF
    slots = np.zeros(1 << 16, "<u2")
    for number, piece in enumerate(pieces):
        at = fnv1a(piece) % len(slots)
        while slots[at]:
            at = (at + 1) % len(slots)
        slots[at] = number + 1
    ends = np.cumsum([len(piece) for piece in pieces]).astype("<u4")
    body = slots.tobytes() + ends.tobytes() + b"".join(pieces) + weights.astype("<u2").tobytes() + rows.tobytes()
    model = f"{ENCODER}/{DIMENSIONS}/{WEIGHTS}/{hashlib.sha256(body).hexdigest()[:8]}".encode()
    counts = struct.pack("<5I", len(model), len(pieces), len(slots), int(ends[-1]), len(rows))
    return b"wbtable1" + counts + model + body, model.decode()


def measure(tokenizer, path, known, variants):
    """Prints how often a question's own paragraph is the first, or among the first five."""
    paragraphs, questions = [], []
    for article in json.loads(Path(path).read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            questions += [(ids(tokenizer, asked["question"]), len(paragraphs)) for asked in paragraph["qas"]]
            paragraphs.append(ids(tokenizer, paragraph["context"]))
    row_of = {piece: row for row, piece in enumerate(known)}

    def vectors(rows, texts):
        sums = np.array([rows[[row_of[piece] for piece in text if piece in row_of]].sum(0) for text in texts])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    own = np.array([paragraph for _, paragraph in questions])
    for name, rows in variants:
        scores = vectors(rows, [question for question, _ in questions]) @ vectors(rows, paragraphs).T
        place = (scores > scores[np.arange(len(own)), own][:, None]).sum(1)
        print(f"{name:24} R@1 {(place < 1).mean():.3f}  R@5 {(place < 5).mean():.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", nargs="+", required=True)
    parser.add_argument("--measure")
    args = parser.parse_args()
    for path in [args.model / "model.safetensors", args.model / "tokenizer.json", *map(Path, args.count)]:
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    names = {number: piece for piece, number in tokenizer.get_vocab().items()}
    # Special pieces, `[CLS]` and `[unused7]`, are not made of texts.
    pieces = sorted((number for number, name in names.items() if len(name) < 3 or name[0] != "["), key=names.get)
    known = [piece for piece in pieces if has_meaning(names[piece])]
    rest = [piece for piece in pieces if not has_meaning(names[piece])]

    full = each_alone(Encoder(args.model / "model.safetensors"), known)
    idf, shares = (values[known] for values in count(tokenizer, args.count))
    # The mean text gets no direction. With the mean piece instead, all texts are similar: their cosines are 0.3 higher.
    centred = full - shares @ full / shares.sum()
    projected = fewer_dimensions(centred, DIMENSIONS)
    rows, scales = in_bytes(projected)
    weights = idf * scales
    weights = np.rint(weights / weights.max() * 0xFFFF)
    data, model = packed([names[piece] for piece in known + rest], rows, weights)
    args.out.write_bytes(data)
    print(hashlib.sha256(data).hexdigest(), args.out.name, f"{len(data)} bytes, {len(rows)} rows, {model}")
    if args.measure:
        variants = [("256, bytes, idf", rows * weights[:, None]), ("256, bytes, no idf", rows * scales[:, None])]
        for dimensions in (full.shape[1], 256, 128, 64):
            variants += [(f"{dimensions}, floats, idf", fewer_dimensions(centred, dimensions) * idf[:, None])]
        other = fewer_dimensions(full - full.mean(0), DIMENSIONS)
        variants += [("256, floats, no idf", projected), ("256, mean of pieces, idf", other * idf[:, None])]
        measure(tokenizer, args.measure, known, variants)


if __name__ == "__main__":
    main()
