/** Parses the addresses of Signal: a number, an account, a group or a username. */

import { channelError, type Target } from '@reveille/kit'

export interface SignalTarget extends Target {
  /** The recipient as the parameters of `send` name it. */
  readonly address: Readonly<Partial<Record<'recipient' | 'groupId' | 'username', readonly string[]>>>
}

const forms: readonly {
  readonly pattern: RegExp
  target(found: string): SignalTarget
}[] = [
  {
    pattern: /^(?:signal:)?(\+[1-9][0-9]{6,14})$/,
    target: (number) => ({ key: number, kind: 'user', address: { recipient: [number] } }),
  },
  {
    pattern: /^(?:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i,
    target(written) {
      const uuid = written.toLowerCase()
      return { key: `uuid:${uuid}`, kind: 'user', address: { recipient: [uuid] } }
    },
  },
  {
    pattern: /^(?:signal:)?group:([A-Za-z0-9+/_-]{20,}={0,2})$/,
    target(written) {
      const id = standardBase64(written)
      return { key: `group:${id}`, kind: 'group', address: { groupId: [id] } }
    },
  },
  {
    pattern: /^username:([A-Za-z0-9_.]+)$/,
    target(written) {
      const name = written.toLowerCase()
      return { key: `username:${name}`, kind: 'user', address: { username: [name] } }
    },
  },
]

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): SignalTarget {
  const address = to.trim()
  for (const { pattern, target } of forms) {
    const found = pattern.exec(address)?.[1]
    if (found !== undefined) return target(found)
  }
  const known =
    'it takes a number with its country, `+41791234567`, `uuid:<account>`, `group:<id in base64>` or `username:<name.01>`'
  throw channelError('bad-target', `This is no address of Signal: ${known}.`)
}

/** Converts an id in base64url, as group links and some tools write it, to the base64 that signal-cli reads. */
function standardBase64(id: string): string {
  const bare = id.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=')
}
