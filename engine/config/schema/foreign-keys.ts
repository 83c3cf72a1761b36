/** Owns the keys that OpenClaw's `hooks` block has and ours does not, and what to write instead of each. */

import { type Path, writePath } from '../path.ts'
import type { Finding } from './violation.ts'

/** By the path from the file's root; that of a mapping without where its list stands. */
const instead: ReadonlyMap<string, string> = new Map([
  [
    'hooks.allowedAgentIds',
    'Remove it: no sender can choose an agent here; each mapping says with `runner` and `model` who answers.',
  ],
  [
    'hooks.defaultSessionKey',
    'Remove it, and write `sessionKey:` in the mappings that share a conversation; without one, each request has its own.',
  ],
  [
    'hooks.allowRequestSessionKey',
    'Remove it: a request to /agent may name its session; `allowedSessionKeyPrefixes: ["hook:"]` limits which.',
  ],
  ['hooks.internal', 'Remove it: those hooks run inside OpenClaw, and no webhook ever reaches them.'],
  ['hooks.gmail.hookUrl', 'Remove it: mails go to `/hooks/gmail` of this gateway by themselves.'],
  [
    'hooks.gmail.pushToken',
    'Remove it: `mode: pull` needs no address that Google can reach; for `mode: push`, `reveille webhooks gmail setup --mode push` has Google sign what it posts.',
  ],
  [
    'hooks.gmail.serve',
    'Remove it: notifications are pulled, or posted to `/hooks/gmail/push` of this gateway.',
  ],
  ['hooks.gmail.tailscale', 'Remove it: notifications are pulled, so that no tunnel is needed.'],
  ['mapping.agentId', 'Remove it, and say with `runner` and `model` who answers.'],
  [
    'mapping.sessionMode',
    'Remove it: runs of one `sessionKey` share a conversation; leave `sessionKey` out for a fresh one each time.',
  ],
])

/** What is wrong with a key that OpenClaw knows; nothing for any other. */
export function foreignKey(path: Path): Finding | undefined {
  const [first, second, ...rest] = path[0] === 'hooks' && path[1] === 'mappings' ? path.slice(1) : path
  const inMapping = first === 'mappings' && typeof second === 'number'
  const hint = instead.get(writePath(inMapping ? ['mapping', ...rest] : path))
  if (hint === undefined) return undefined
  const message = `\`${writePath(path)}\` is a key of OpenClaw that this gateway does not have`
  return { path, at: 'key', code: 'FOREIGN_KEY', message, hint }
}
