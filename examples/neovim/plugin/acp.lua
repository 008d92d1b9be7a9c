-- :Acp [command …] starts an agent; :AcpPrompt and :AcpCancel speak to that of the current buffer.

local function on_buffer(name)
  return function(options)
    require("acp").act(vim.api.nvim_get_current_buf(), name, options.args ~= "" and options.args or nil)
  end
end

vim.api.nvim_create_user_command("Acp", function(options)
  require("acp").open(options.fargs)
end, { nargs = "*", complete = "shellcmd" })
vim.api.nvim_create_user_command("AcpPrompt", on_buffer("prompt"), { nargs = "+" })
vim.api.nvim_create_user_command("AcpCancel", on_buffer("cancel"), { nargs = 0 })
