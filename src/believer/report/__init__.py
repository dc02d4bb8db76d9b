"""Reports: tables, sections and figures, as text, Markdown, CSV, or one HTML page, all with the same look."""

from __future__ import annotations

from believer.report.document import Document, png
from believer.report.page import as_html
from believer.report.sections import Section, as_markdown, as_text
from believer.report.tables import TONES, Plain, Table, formatted

__all__ = ["TONES", "Document", "Plain", "Section", "Table", "as_html", "as_markdown", "as_text", "formatted", "png"]
