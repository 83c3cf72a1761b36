import { testLoads } from './load-fixture.ts'

testLoads(`
# keys of OpenClaw that ask for the default behaviour load without a warning, and have no effect
hooks: { defaultSessionKey: " hook:ingress ", allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"], allowedAgentIds: ["*", main] } ⇒ { warnings: [], settings: { hooks: { defaultSessionKey: 'hook:ingress', allowRequestSessionKey: true, allowedAgentIds: ['*', main] } } }
hooks: { mappings: [{ message: x, agentId: Main, sessionMode: persistent, sessionKey: "hook:x" }] } ⇒ { warnings: [], mappings: [{ value: { agentId: null, sessionMode: null, sessionKey: 'hook:x' } }] }
hooks: { defaultSessionKey: a, mappings: [{ message: x, sessionMode: isolated }, { message: x, busy: reject }] } ⇒ { warnings: [], mappings: [{ value: { sessionMode: null } }, { value: { busy: reject } }] }

# comments of JSON5 are recognised between brackets and around them, also in lists of texts
// ~/.openclaw/openclaw.json⏎{⏎ hooks: {⏎ // about the path⏎ path: "/hooks", // with a slash⏎ token: [⏎ // newest first⏎ "new-9f2c77b1e04d4a6c8e35", "old-9f2c77b1e04d4a6c8e35" ],⏎ allowedSessionKeyPrefixes: [⏎ // ours⏎ "hook:" ],⏎ presets: [ // mail⏎ "gmail" ],⏎ mappings: [ /* one */ { match: { headers: { x-a: [ // any⏎ "b", "c" ] } }, message: "see // this" } ],⏎ },⏎ agents: { defaults: { models: [ // cheap⏎ "openai/gpt-5-mini" ] } }⏎}⏎/* the end */ || shipped/gmail.yaml: mappings: [{ id: mail, match: { path: gmail }, message: x }] ⇒ { warnings: [], settings: { hooks: { tokens: [new-9f2c77b1e04d4a6c8e35, old-9f2c77b1e04d4a6c8e35], allowedSessionKeyPrefixes: ['hook:'] }, agents: { defaults: { models: { allowed: [openai/gpt-5-mini] } } } }, mappings: [{ id: 'reveille.yaml#1', value: { match: { headers: { x-a: [b, c] } }, message: see // this } }, { id: mail }] }
`)
