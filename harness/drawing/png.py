"""SVG to PNG."""

from __future__ import annotations


def png_bytes(svg: str, *, scale: float = 1.0, background: str = "#ffffff") -> bytes:
    """The picture as a PNG file, `scale` times its size in pixels. No font is looked for: our pictures hold none."""
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg, zoom=scale, background=background, skip_system_fonts=True)
