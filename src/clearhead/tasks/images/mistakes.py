"""The pictures of which a model is most sure and wrong, to look at in the report."""

from base64 import b64encode

import numpy as np

from clearhead.data.pictures import PictureSet
from clearhead.media import png_of
from clearhead.tasks.images.evaluate import Guesses
from clearhead.tasks.markup import isolate

__all__ = ["show_mistakes"]

N_SHOWN = 24
SIDE = 96


def show_mistakes(found: Guesses, pictures: PictureSet) -> str:
    """Small pictures with what they show and what was said, as HTML; the surest mistake first."""
    said, probs = found.said, found.probs.max(1)
    wrong = np.flatnonzero(said != found.labels)
    order = wrong[np.argsort(-probs[wrong], kind="stable")][:N_SHOWN].tolist()
    if not order:
        return "<p>No picture of the test is taken for something else.</p>"
    figures = []
    for row in order:
        data = b64encode(png_of(pictures.images[row].transpose(1, 2, 0))).decode()
        right, other = (found.names[label] for label in (found.labels[row], said[row]))
        figures.append(
            f'<figure style="width:{SIDE + 32}px"><img src="data:image/png;base64,{data}" alt="" '
            f'width="{SIDE}" height="{SIDE}" style="image-rendering:pixelated;display:block">'
            f"<figcaption>{isolate(right)}, taken for <b>{isolate(other)}</b> "
            f"with {100 * probs[row]:.0f} %</figcaption></figure>"
        )
    rows = "".join(figures)
    return f'<div style="display:flex;flex-wrap:wrap;gap:.75rem">{rows}</div>'
