"""Networks in notebooks: HTML without colours of its own, so that it fits light and dark pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latentforest.data.table_text import escape_html, write_html
from latentforest.model.printing import MAX_LATENTS, MAX_ROWS

if TYPE_CHECKING:
    from latentforest.model.network import Network

MAX_LINES = 60  # of a drawn tree


def write_network(network: Network) -> str:
    """Write the tree of a network, and the profiles of its first latent variables to unfold."""
    lines = str(network).split("\n")
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"… {len(lines) - MAX_LINES:,} more lines"]
    drawn = escape_html("\n".join(lines))
    size = (
        f"{len(network.names):,} variables, {len(network.latents):,} of them latent; "
        f"{network.dimension:,} free parameters"
    )
    latents = [name for name in network.latents if network.structure.children(name)]
    shown = "".join(_write_profiles(network, name) for name in latents[:MAX_LATENTS])
    if len(latents) > MAX_LATENTS:
        shown += f"<p>{MAX_LATENTS} of {len(latents):,} latent variables; profiles() has all.</p>"
    return f'<pre style="line-height:1.25">{drawn}</pre><p>{size}</p>{shown}'


def _write_profiles(network: Network, latent: str) -> str:
    table = network.profiles(latent)
    page = write_html(table, max_rows=MAX_ROWS)
    return f"<details><summary>States of {escape_html(latent)}</summary>{page}</details>"
