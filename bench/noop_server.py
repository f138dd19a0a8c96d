"""The least that the low-level server of the SDK can be: one tool that does nothing."""

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
