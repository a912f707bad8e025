"""Pictures of previews (`og:image`): what a link to the board or to a model shows elsewhere.

Drawn once for each content: the name of a picture is a hash of what it shows. Computes no number.
Pillow draws them, with the fonts of Matplotlib; both come with the extra `figures`.
"""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness import folders

from .documents import Mean

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont

FOLDER = "og"
SIZE = (1200, 630)
"""Width and height that previews are made for (https://ogp.me)."""
DESIGN = 1
"""Version of the drawing, which is part of the hash."""
MISSING = (
    "no pictures for previews of links: they need `pip install 'embedding-bias-harness[figures]'`"
)
_PAPER, _INK, _FAINT, _LINE = "#ffffff", "#1b2230", "#566072", "#d9dee6"
_BIAS, _GOOD = "#b04a12", "#0f6b4f"
_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")
_LEFT, _RIGHT = 72, SIZE[0] - 72


@dataclass(frozen=True)
class Scale:
    """A number on an axis from 0.

    Parameters
    ----------
    label
        What it is.
    text
        The number, with its interval.
    unit
        What it counts, in words.
    mean
        The number and its interval.
    end
        End of the axis.
    mark
        Name of the model that has 1 on an axis of bias; empty where more is better.
    """

    label: str
    text: str
    unit: str
    mean: Mean
    end: float = 1.0
    mark: str = ""


@dataclass(frozen=True)
class Picture:
    """What a picture shows, from top to bottom.

    Parameters
    ----------
    site
        Title of the board.
    title
        The name in large type.
    texts
        Sentences.
    scales
        Numbers that are drawn.
    """

    site: str
    title: str
    texts: Sequence[str] = ()
    scales: Sequence[Scale] = ()

    @property
    def path(self) -> str:
        """Return its path in a site, which changes with what it shows."""
        content = repr((DESIGN, self)).encode("utf-8", "surrogatepass")
        return f"{FOLDER}/{hashlib.blake2b(content, digest_size=8).hexdigest()}.png"


def can_draw() -> bool:
    """Return whether Pillow and the fonts are installed."""
    has_fonts = all((_fonts() / name).is_file() for name in _FONTS)
    return folders.of_package("PIL") is not None and has_fonts


def publish_pictures(files: folders.BuiltFolder, pictures: Iterable[Picture]) -> int:
    """Write pictures, and return how many were drawn: those that the site does not have yet.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    drawn = 0
    for path, picture in {picture.path: picture for picture in pictures}.items():
        if (files.folder / path).is_file():
            files.write(path, (files.folder / path).read_bytes())
        else:
            files.write(path, draw(picture))
            drawn += 1
    return drawn


def draw(picture: Picture) -> bytes:
    """Return a picture as PNG."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, _PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, SIZE[0], 14), fill=_BIAS)
    pen.text((_LEFT, 56), _fitted(pen, picture.site, _font(30)), _FAINT, _font(30))
    size = next(
        (
            size
            for size in (76, 64, 54, 46)
            if _width(pen, picture.title, size, bold=True) <= _RIGHT - _LEFT
        ),
        40,
    )
    title = _font(size, bold=True)
    pen.text((_LEFT, 104), _fitted(pen, picture.title, title), _INK, title)
    y = 104.0 + size + 28
    for text in picture.texts:
        for line in _wrapped(pen, text, _font(32)):
            pen.text((_LEFT, y), line, _INK, _font(32))
            y += 44
        y += 8
    for scale in picture.scales:
        y = _draw_scale(pen, scale, y + 16)
    content = io.BytesIO()  # a few colours take a third of the room, and of the time
    image.quantize(64, Image.Quantize.FASTOCTREE).save(content, "PNG")
    return content.getvalue()


def _draw_scale(pen: ImageDraw.ImageDraw, scale: Scale, y: float) -> float:
    """Draw a number as a bar with its interval, and return the place below it."""
    colour, mean = _BIAS if scale.mark else _GOOD, scale.mean
    pen.text((_LEFT, y), scale.label, _INK, _font(34, bold=True))
    after = _LEFT + _width(pen, scale.label, 34, bold=True) + 20
    pen.text((after, y), scale.text, colour, _font(34, bold=True))
    after += _width(pen, scale.text, 34, bold=True) + 24
    unit = _fitted(pen, scale.unit, _font(26), _RIGHT - after)
    pen.text((after, y + 7), unit, _FAINT, _font(26))
    top, bottom = y + 58, y + 86

    def place(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(max(value / scale.end, 0.0), 1.0)

    pen.rectangle((_LEFT, top, _RIGHT, bottom), fill=_LINE)
    pen.rectangle((_LEFT, top, place(mean.value or 0.0), bottom), fill=colour)
    if mean.low is not None and mean.high is not None:
        middle = (top + bottom) / 2
        pen.line((place(mean.low), middle, place(mean.high), middle), _INK, 4)
        for end in (mean.low, mean.high):
            pen.line((place(end), middle - 12, place(end), middle + 12), _INK, 4)
    if scale.mark:
        at = place(1.0)
        pen.line((at, top - 8, at, bottom + 8), _FAINT, 3)
        name = _fitted(pen, f"1 is as biased as {scale.mark}", _font(22))
        x = min(max(at - _width(pen, name, 22) / 2, _LEFT), _RIGHT - _width(pen, name, 22))
        pen.text((x, bottom + 10), name, _FAINT, _font(22))
        bottom += 28
    return bottom + 18


def _wrapped(pen: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """Return a text in at most three lines."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if pen.textlength(longer, font) <= _RIGHT - _LEFT or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > 3:
        lines = [*lines[:2], " ".join(lines[2:])]
    return [_fitted(pen, line, font) for line in lines]


def _fitted(
    pen: ImageDraw.ImageDraw,
    text: str,
    font: ImageFont.FreeTypeFont,
    width: float = _RIGHT - _LEFT,
) -> str:
    """Return a text that is cut to a width."""
    text = text[:LONGEST]
    if pen.textlength(text, font) <= width:
        return text
    while text and pen.textlength(f"{text}…", font) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


LONGEST = 400
"""Most characters of a text that is measured."""


def _width(pen: ImageDraw.ImageDraw, text: str, size: int, *, bold: bool = False) -> float:
    return float(pen.textlength(text[:LONGEST], _font(size, bold=bold)))


@functools.cache
def _fonts() -> Path:
    """Return the folder of the fonts; one that does not exist if they are not installed."""
    return (folders.of_package("matplotlib") or Path()) / "mpl-data" / "fonts" / "ttf"


@functools.cache
def _font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(_fonts() / _FONTS[bold], size)
