"""Equations as MathML, which browsers draw themselves: the pages need no script and no network."""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator


def convert(tex: str, *, as_block: bool) -> str:
    """Return an equation as MathML; docutils would read "frac12" as 12 over what follows."""
    if re.search(r"\\[td]?frac\s*[^\s{]", tex):
        raise ValueError(f"a fraction needs braces around both parts: {tex}")
    return str(latex2mathml.tex2mathml(tex, as_block=as_block))


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    """Write an equation inside a line."""
    translator.body.append(convert(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_math_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation on its own line."""
    equation = convert(node.astext(), as_block=True)
    translator.body.append(f'<div class="math">{equation}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.config["html_math_renderer"] = "mathml"
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
