-- The editor's side: a buffer, its keys, and the edits that acp_nvim (the Python side) asks for.

local M = {}

local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h")
local namespace = vim.api.nvim_create_namespace("acp")

--- Start an agent, and show the conversation with it in a new window.
function M.open(command)
  if #command == 0 then
    command = vim.g.acp_agent or {}
  end
  if #command == 0 then
    return M.say("no agent: set g:acp_agent, or name a command", vim.log.levels.ERROR)
  end
  vim.cmd("new")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_name(buffer, "acp://" .. buffer)
  vim.cmd("setlocal buftype=nofile bufhidden=hide noswapfile undolevels=-1 nomodifiable")
  vim.cmd("setlocal signcolumn=yes wrap linebreak breakindent nolist nonumber norelativenumber")
  vim.cmd("setlocal foldmethod=indent foldlevel=99 shiftwidth=2 filetype=acp")
  M.start(buffer, command)
  M.map_keys(buffer)
end

function M.start(buffer, command)
  local python = vim.g.acp_python or vim.g.python3_host_prog or "python3"
  local path = table.concat({ root, vim.env.PYTHONPATH }, ":")
  local said = {}
  local channel = vim.fn.jobstart(vim.list_extend({ python, "-m", "acp_nvim", buffer }, command), {
    rpc = true,
    env = { PYTHONPATH = path },
    on_stderr = function(_, data)
      vim.list_extend(said, data)
      said = vim.list_slice(said, math.max(1, #said - 20))
    end,
    on_exit = function(_, code)
      if vim.api.nvim_buf_is_valid(buffer) then
        vim.b[buffer].acp_channel = nil
      end
      if code ~= 0 and vim.v.exiting == vim.NIL then
        M.say(table.concat(said, "\n"), vim.log.levels.ERROR)
      end
    end,
  })
  vim.b[buffer].acp_channel = channel
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      vim.fn.jobstop(channel)
    end,
  })
end

-- Keys ------------------------------------------------------------------------------------------

function M.ask(buffer)
  pcall(vim.ui.input, { prompt = "Prompt: " }, function(text) -- Ctrl-C raises
    if text and text ~= "" then
      M.act(buffer, "prompt", text)
    end
  end)
end

function M.act(buffer, name, ...)
  local channel = vim.b[buffer].acp_channel
  if not channel then
    return M.say("no agent belongs to this buffer", vim.log.levels.ERROR)
  end
  vim.rpcnotify(channel, name, ...)
end

function M.map_keys(buffer)
  local function map(key, action, options)
    options = vim.tbl_extend("force", { buffer = buffer, nowait = true }, options or {})
    vim.keymap.set("n", key, action, options)
  end
  for _, key in ipairs({ "i", "<CR>" }) do
    map(key, function()
      M.ask(buffer)
    end)
  end
  map("<C-c>", function()
    M.act(buffer, "cancel")
  end)
  for number = 1, 9 do -- a count, unless the agent waits for an answer
    map(tostring(number), function()
      if number > (vim.b[buffer].acp_options or 0) or vim.v.count > 0 then
        return tostring(number)
      end
      M.act(buffer, "answer", number)
      return ""
    end, { expr = true })
  end
end

-- Called by acp_nvim ----------------------------------------------------------------------------

-- Lines are changed by setbufline and appendbufline, not by nvim_buf_set_lines or _set_text: those
-- count a changed line as deleted, so cursors of other windows and ends of folds move off it.

local function extend(buffer, row, text)
  local line = vim.fn.getbufline(buffer, row + 1)[1]
  vim.fn.setbufline(buffer, row + 1, line .. text)
end

local function replace(buffer, views, first, last, lines)
  local both = math.min(last - first, #lines)
  if both > 0 then
    vim.fn.setbufline(buffer, first + 1, vim.list_slice(lines, 1, both))
  end
  if #lines > both then
    vim.fn.appendbufline(buffer, first + both, vim.list_slice(lines, both + 1))
  elseif first + both < last then
    vim.fn.deletebufline(buffer, first + both + 1, last)
  end
  for _, top in pairs(views) do
    if last < top.now then
      top.now = top.now + #lines - (last - first)
    end
  end
end

-- What stands at the top of a window stays there when lines above it come or go. (Neovim sees to
-- that in all windows but the current one.) A window with its cursor on the last line follows.

local function views(buffer)
  local found = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local view = vim.api.nvim_win_call(window, vim.fn.winsaveview)
    if view.lnum < vim.api.nvim_buf_line_count(buffer) then
      found[window] = { was = view.topline, now = view.topline }
    end
  end
  return found
end

local function restore(found)
  for window, top in pairs(found) do
    if top.was ~= top.now then
      vim.api.nvim_win_call(window, function()
        vim.fn.winrestview({ topline = top.now })
      end)
    end
  end
end

--- Apply edits, in order, and show signs.
function M.draw(buffer, is_new, edits, signs, options)
  if not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  local found = views(buffer)
  vim.bo[buffer].modifiable = true
  for _, edit in ipairs(edits) do
    if #edit == 2 then
      extend(buffer, unpack(edit))
    else
      replace(buffer, found, unpack(edit))
    end
  end
  vim.bo[buffer].modifiable = false
  restore(found)
  vim.b[buffer].acp_options = options
  if is_new then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  end
  for _, sign in ipairs(signs) do
    local id, row, text, group = unpack(sign)
    local mark = { id = id, sign_text = text, sign_hl_group = group }
    vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, mark)
  end
  if vim.api.nvim_get_mode().mode == "c" then -- a prompt is being typed
    vim.cmd("redraw")
  end
end

function M.say(text, level)
  vim.notify("acp: " .. text, level)
end

return M
