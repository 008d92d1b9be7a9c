// Changes of a session as JSON, applied to its snapshot document: what a web view does to mirror a store.
// `applyChanges(document, changes)` returns the next document, and is held to the fixtures:
//   python -m acp_client.testing node examples/apply_changes.mjs
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// Values other than null with which a field is left out.
const EMPTY = { droppedBytes: 0, cancelling: false };
const isEmpty = (key, value) =>
  value === null || value === EMPTY[key]
  || (["locations", "elicitations"].includes(key) && value.length === 0);

const withFields = (held, fields) =>
  Object.fromEntries(Object.entries({ ...held, ...fields }).filter(([key, value]) => !isEmpty(key, value)));

const put = (document, key, place, value) => {
  const items = [...(document[key] ?? [])];
  items[place] = value;
  return { ...document, [key]: items };
};
const without = (object, ...keys) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

const contentKey = (entry) => (entry.type === "compaction" ? "summary" : "content");
const textOf = (item) => (item.type === "content" ? item.content.text : item.text);
const withText = (item, text) =>
  item.type === "content" ? { ...item, content: { ...item.content, text } } : { ...item, text };

const withMetas = (entry, metas, brought) => {
  const all = { ...metas, ...Object.fromEntries(brought) };
  const rest = without(entry, "chunkMeta");
  return Object.keys(all).length ? { ...rest, chunkMeta: all } : rest;
};

// Replaces the items from `index` on; the first may go on with a text that was there.
const splice = (document, { place, index, items, kept, metas }) => {
  const entry = document.entries[place];
  const key = contentKey(entry);
  const held = entry[key];
  let brought = items;
  if (kept) {
    const begun = [...textOf(held[index])].slice(0, kept).join(""); // counted in characters
    brought = [withText(items[0], begun + textOf(items[0])), ...items.slice(1)];
  }
  const left = Object.entries(entry.chunkMeta ?? {}).filter(([at]) => Number(at) < index);
  const after = { ...entry, [key]: [...held.slice(0, index), ...brought] };
  return put(document, "entries", place, withMetas(after, Object.fromEntries(left), metas));
};

const replaceContent = (document, { place, new: content }) => {
  const entry = document.entries[place];
  const after = { ...entry, [contentKey(entry)]: content.items };
  return put(document, "entries", place, withMetas(after, {}, content.metas));
};

const changeEntry = (document, { place, new: fields }) => {
  const entry = document.entries[place];
  const { cancelMarked = "reportedStatus" in entry, ...rest } = fields;
  const reported = rest.reportedStatus ?? entry.reportedStatus ?? entry.status ?? null;
  return put(document, "entries", place, withFields(entry, { ...rest, reportedStatus: cancelMarked ? reported : null }));
};

const appendOutput = (document, { place, data, dropped }) => {
  const terminal = document.terminals[place];
  const bytes = atob(terminal.output).slice(dropped) + atob(data);
  return put(document, "terminals", place, { ...terminal, output: btoa(bytes) });
};

const changePlan = (document, change) => {
  const plans = [...document.plans];
  plans.splice(change.place, change.old === null ? 0 : 1, ...(change.new === null ? [] : [change.new]));
  return { ...document, plans };
};

const terminal = (document, place, fields) =>
  put(document, "terminals", place, withFields(document.terminals[place], fields));
const replaces = (key) => (document, change) => withFields(document, { [key]: change.new });

const APPLY = {
  reset: (_, change) => without(change.new, "bookkeeping"),
  entryAdded: (document, change) => put(document, "entries", change.place, change.new),
  textAppended: splice,
  textReplaced: splice,
  itemsAppended: splice,
  contentReplaced: replaceContent,
  entryChanged: changeEntry,
  terminalAdded: (document, change) => put(document, "terminals", change.place, change.new),
  outputAppended: appendOutput,
  outputReplaced: (document, change) => terminal(document, change.place, { output: change.new }),
  terminalChanged: (document, change) => terminal(document, change.place, change.new),
  planChanged: changePlan,
  promptChanged: (document, change) => put(document, "prompts", change.place, change.new),
  turnChanged: (document, change) => put(document, "turns", change.place, without(change.new, "costBefore")),
  noticesAdded: (document, change) =>
    ({ ...document, notices: [...document.notices.slice(change.dropped), ...change.new] }),
  infoChanged: (document, change) => ({ ...document, info: withFields(document.info, change.new) }),
  availableCommandsChanged: replaces("availableCommands"),
  configOptionsChanged: replaces("configOptions"),
  permissionsChanged: replaces("permissions"),
  elicitationsChanged: replaces("elicitations"),
  cancellingChanged: replaces("cancelling"),
  connectionLostChanged: replaces("connectionLost"),
  stateChanged: replaces("state"),
  usageChanged: replaces("usage"),
};

export const applyChanges = (document, changes) =>
  changes.reduce((after, change) => APPLY[change.change](after, change), document);

// The documents that the changes of a fixture lead to.
const mirrored = (steps) => {
  const sessions = new Map();
  for (const { sessionId, changes } of steps) {
    sessions.set(sessionId, applyChanges(sessions.get(sessionId) ?? {}, changes));
  }
  return [...sessions.values()];
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify({ documents: mirrored(JSON.parse(line).changes) }));
  }
}
