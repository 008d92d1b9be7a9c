// What a programmer would write by hand on Node: JSON.parse into mutable objects.
//
// node --expose-gc reducer.mjs FILE READ_SIZE: each line on the standard input is a command. "run" reduces the
// file, which is in memory already, in reads of that many bytes, and answers with the seconds that it
// took; "document" answers with what it ends with.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { StringDecoder } from "node:string_decoder";

const data = readFileSync(process.argv[2]);
const readSize = Number(process.argv[3]);
const reads = [];
for (let start = 0; start < data.length; start += readSize) {
  reads.push(data.subarray(start, start + readSize));
}

const newSession = () => ({
  entries: new Map(),
  terminals: new Map(),
  plans: new Map(),
  state: { state: "idle" },
  usage: undefined,
  info: {},
  notices: [],
});

function message(session, type, messageId) {
  const key = `${type} ${messageId}`;
  let entry = session.entries.get(key);
  if (entry === undefined) {
    entry = { type, messageId, content: [] };
    session.entries.set(key, entry);
  }
  return entry;
}

function patchMeta(entity, update) {
  if (update._meta === undefined) return;
  const meta = update._meta === null ? {} : { ...entity._meta, ...update._meta };
  for (const key in meta) if (meta[key] === null) delete meta[key];
  if (Object.keys(meta).length) entity._meta = meta;
  else delete entity._meta;
}

function patch(entity, update, keys) {
  for (const key of keys) {
    if (update[key] === null) delete entity[key];
    else if (update[key] !== undefined) entity[key] = update[key];
  }
}

function appendTo(entry, list, update) {
  if (update._meta != null && Object.keys(update._meta).length) {
    (entry.chunkMeta ??= {})[list.length] = update._meta;
  }
  list.push(update.content);
}

const onChunk = (type) => (session, update) => {
  const entry = message(session, type, update.messageId);
  appendTo(entry, entry.content, update);
};

function replaceContent(entry, update) {
  if (update.content === undefined) return;
  entry.content = update.content ?? [];
  delete entry.chunkMeta;
}

const onMessage = (type) => (session, update) => {
  const entry = message(session, type, update.messageId);
  replaceContent(entry, update);
  patchMeta(entry, update);
};

function toolCall(session, toolCallId) {
  const key = `tool_call ${toolCallId}`;
  let entry = session.entries.get(key);
  if (entry === undefined) {
    entry = { type: "tool_call", toolCallId, kind: "other", status: "pending", content: [] };
    session.entries.set(key, entry);
  }
  return entry;
}

const TOOL_CALL_FIELDS = ["name", "title", "locations", "rawInput", "rawOutput", "capabilities"];

function onToolCall(session, update) {
  const entry = toolCall(session, update.toolCallId);
  patch(entry, update, TOOL_CALL_FIELDS);
  if (update.kind !== undefined) entry.kind = update.kind ?? "other";
  if (update.status !== undefined) entry.status = update.status ?? "pending";
  replaceContent(entry, update);
  patchMeta(entry, update);
}

function onToolCallChunk(session, update) {
  const entry = toolCall(session, update.toolCallId);
  appendTo(entry, entry.content, update);
}

function terminal(session, terminalId) {
  let found = session.terminals.get(terminalId);
  if (found === undefined) {
    found = { terminalId, output: [] };
    session.terminals.set(terminalId, found);
  }
  return found;
}

function onTerminal(session, update) {
  const found = terminal(session, update.terminalId);
  patch(found, update, ["command", "cwd", "exitStatus", "size", "capabilities"]);
  if (update.output !== undefined) {
    found.output = update.output === null ? [] : [Buffer.from(update.output.data, "base64")];
    found.outputMeta = update.output?._meta;
  }
  patchMeta(found, update);
}

function onTerminalChunk(session, update) {
  terminal(session, update.terminalId).output.push(Buffer.from(update.data, "base64"));
}

function compaction(session, compactionId) {
  const key = `compaction ${compactionId}`;
  let entry = session.entries.get(key);
  if (entry === undefined) {
    entry = { type: "compaction", compactionId, status: "in_progress", summary: [] };
    session.entries.set(key, entry);
  }
  return entry;
}

function onCompaction(session, update) {
  const entry = compaction(session, update.compactionId);
  entry.status = update.status;
  if (update.summary !== undefined) entry.summary = update.summary ?? [];
  patch(entry, update, ["error"]);
  patchMeta(entry, update);
}

function onInfo(session, update) {
  patch(session.info, update, ["title", "updatedAt"]);
  patchMeta(session.info, update);
}

function onNotice(session, update) {
  session.notices.push(update);
  if (session.notices.length > 100) session.notices.shift();
}

function onState(session, { sessionUpdate, ...state }) {
  session.state = state;
}

const HANDLERS = new Map(
  Object.entries({
    user_message_chunk: onChunk("user_message"),
    agent_message_chunk: onChunk("agent_message"),
    agent_thought_chunk: onChunk("agent_thought"),
    user_message: onMessage("user_message"),
    agent_message: onMessage("agent_message"),
    agent_thought: onMessage("agent_thought"),
    tool_call_update: onToolCall,
    tool_call_content_chunk: onToolCallChunk,
    terminal_update: onTerminal,
    terminal_output_chunk: onTerminalChunk,
    compaction_update: onCompaction,
    compaction_summary_chunk: (session, update) => {
      compaction(session, update.compactionId).summary.push(update.content);
    },
    plan_update: (session, { plan }) => session.plans.set(plan.planId, plan),
    state_update: onState,
    usage_update: (session, update) => {
      session.usage ??= {};
      patch(session.usage, update, ["used", "size", "cost"]);
    },
    session_info_update: onInfo,
    available_commands_update: (session, update) => {
      session.availableCommands = update.availableCommands;
    },
    config_option_update: (session, update) => {
      session.configOptions = update.configOptions;
    },
    notice: onNotice,
  }),
);

function onUnknown(session, update) {
  session.entries.set(`unknown ${session.entries.size}`, { type: "unknown", update });
}

function reduce() {
  const sessions = new Map();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (const read of reads) {
    const lines = (rest + decoder.write(read)).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { method, params } = JSON.parse(line);
      if (method !== "session/update") continue;
      let session = sessions.get(params.sessionId);
      if (session === undefined) {
        session = newSession();
        sessions.set(params.sessionId, session);
      }
      const update = params.update;
      (HANDLERS.get(update.sessionUpdate) ?? onUnknown)(session, update);
    }
  }
  return sessions;
}

function toDocument(sessions) {
  return [...sessions.values()].map((session) => ({
    entries: [...session.entries.values()],
    terminals: [...session.terminals.values()].map((found) => ({
      ...found,
      output: Buffer.concat(found.output).toString("base64"),
    })),
    state: session.state,
    usage: session.usage,
  }));
}

const COMMANDS = {
  run() {
    gc(); // as the benchmarks do before each run in Python
    const start = performance.now();
    const sessions = reduce(); // kept until the clock is read
    return [(performance.now() - start) / 1000, sessions.size][0];
  },
  document: () => JSON.stringify(toDocument(reduce())),
};

for await (const command of createInterface({ input: process.stdin })) {
  console.log(String(COMMANDS[command]()));
}
