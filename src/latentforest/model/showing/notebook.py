"""Networks in notebooks: a picture on a light ground, tables in the colours of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latentforest.data.results.table_text import escape_html, write_html
from latentforest.model.pictures.shapes import estimate_width
from latentforest.model.pictures.svg import write_svg
from latentforest.model.pictures.tree import draw_network
from latentforest.model.showing.printing import MAX_LATENTS, MAX_ROWS

if TYPE_CHECKING:
    from latentforest.model.network import Network

WIDTH = 960.0  # pixels of a page


def write_network(network: Network) -> str:
    """Write a picture of a network, and the profiles of its first latent variables to unfold."""
    picture = write_svg(draw_network(network, estimate_width, WIDTH))
    size = (
        f"{len(network.names):,} variables, {len(network.latents):,} of them latent; "
        f"{network.dimension:,} free parameters"
    )
    latents = [name for name in network.latents if network.structure.children(name)]
    shown = "".join(_write_profiles(network, name) for name in latents[:MAX_LATENTS])
    if len(latents) > MAX_LATENTS:
        shown += f"<p>{MAX_LATENTS} of {len(latents):,} latent variables; profiles() has all.</p>"
    return f"<div>{picture}<p>{size}</p>{shown}</div>"


def _write_profiles(network: Network, latent: str) -> str:
    table = network.profiles(latent)
    page = write_html(table, max_rows=MAX_ROWS)
    return f"<details><summary>States of {escape_html(latent)}</summary>{page}</details>"
