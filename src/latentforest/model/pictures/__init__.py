"""Pictures as plain shapes in pixels: where things stand, what is written, and SVG files.

Nothing here needs a drawing library; `latentforest.plots` draws the same shapes with matplotlib.
"""
