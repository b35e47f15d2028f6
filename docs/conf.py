"""Sphinx: Markdown pages by MyST, API from docstrings, equations as MathML (needs no network)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from sphinx.ext.napoleon import GoogleDocstring

import lff

project = "lff"
author = "the lff contributors"
copyright = "the lff contributors"
version = release = lff.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "mathml",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
templates_path = []

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True}
# torch documents hundreds of inherited methods; ours are what the page is about
autodoc_inherit_docstrings = False
nitpicky = False

# napoleon takes the words before a colon in a field's docstring for its type; ours are sentences
GoogleDocstring._parse_attribute_docstring = lambda self: list(self._consume_to_end())

html_theme = "furo"
html_title = f"lff {release}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["equations.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
# excerpts are fetched, which browsers refuse to pages that are opened as files
html_show_search_summary = False
