// A small reducer in JavaScript, held to the fixtures of the first group:
//   python -m acp_client.testing --group messages node examples/reducer.mjs
// It knows messages alone; a client adds the other updates in the same way.
import { createInterface } from "node:readline";

const KINDS = ["user_message", "agent_message", "agent_thought"];

const emptySession = (sessionId) => ({
  sessionId, entries: [], terminals: [], plans: [], state: { state: "idle" }, info: {},
  availableCommands: [], configOptions: [], notices: [], prompts: [], permissions: [],
});

const entryOf = (session, type, messageId) => {
  const known = session.entries.find((one) => one.type === type && one.messageId === messageId);
  if (known) return known;
  const entry = { type, messageId, content: [] };
  session.entries.push(entry);
  return entry;
};

const apply = (session, update) => {
  const type = update.sessionUpdate.replace(/_chunk$/, "");
  if (!KINDS.includes(type)) return;
  const entry = entryOf(session, type, update.messageId);
  if (type !== update.sessionUpdate) entry.content.push(update.content);
  else if ("content" in update) entry.content = update.content ?? [];
};

const reduce = (lines) => {
  const sessions = new Map();
  for (const { sent, data } of lines) {
    const message = JSON.parse(data);
    if (sent || message.method !== "session/update") continue;
    const { sessionId, update } = message.params;
    if (!sessions.has(sessionId)) sessions.set(sessionId, emptySession(sessionId));
    apply(sessions.get(sessionId), update);
  }
  return [...sessions.values()];
};

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ documents: reduce(JSON.parse(line).lines) }));
}
