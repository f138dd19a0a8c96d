"""The least that the low-level server of the SDK can be: one tool that does nothing."""

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOL = "nothing"


async def list_tools(*_: object) -> types.ListToolsResult:
    """List the tool."""
    tool = types.Tool(name=TOOL, input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def call_tool(*_: object) -> types.CallToolResult:
    """Do nothing."""
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")])


async def main() -> None:
    """Serve until the input ends."""
    server = Server("noop", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (inbox, outbox):
        await server.run(inbox, outbox, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
