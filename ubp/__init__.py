"""ubp: your Markdown, searchable, linked, fresh and citable over MCP."""

__version__ = "0.1.0"
