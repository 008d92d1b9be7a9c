"""A Neovim plugin that shows the conversation with an ACP agent; see README.md."""
