import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Channel, PluginError } from '@reveille/kit'
import { fallbackRoute, resolveDestination } from './destination.ts'

function channelNamed(id: string, defaultTo?: string): Channel {
  return {
    id,
    limits: { part: 100, unit: 'utf16' },
    defaultTo,
    target(to) {
      if (to === 'nowhere')
        throw new PluginError('nowhere is no address', { code: 'bad-target', retryable: false })
      return { key: to.toLowerCase(), kind: 'user' }
    },
    render: (text) => [{ text }],
    send: async () => ({ id: '1' }),
  }
}

/** Channels by their names, each with its default recipient. */
type Configured = Readonly<Record<string, string | undefined>>

function resolve(asked: { channel: string; to?: string }, last: string | undefined, configured: Configured) {
  const byName = new Map(Object.entries(configured).map(([id, to]) => [id, channelNamed(id, to)]))
  const settings = Object.entries(configured).map(([id, defaultTo]) => [id, defaultTo ? { defaultTo } : {}])
  const [channel = '', to] = last?.split(' ') ?? []
  const route = last === undefined ? undefined : { channel, ...(to !== undefined && { to }) }
  return resolveDestination(asked, route, {
    channel: (name) => byName.get(name),
    channels: Object.fromEntries(settings),
  })
}

const slack = { slack: undefined }
const slackC9 = { slack: 'C9' }
const set = '`reveille route set'

/** The address, the last route, the channels, and the reply's destination or the reason for none. */
const cases: readonly (readonly [asked: string, last: string | undefined, Configured, expected: string])[] = [
  ['last', 'slack C1', slack, 'slack C1'],
  ['last C2', 'slack C1', slack, 'slack C2'],
  ['last', 'slack', slackC9, 'slack C9'],
  ['last', undefined, { whatsapp: '+49' }, 'whatsapp +49'],
  ['last', undefined, slackC9, 'slack C9'],
  ['last C2', undefined, { terminal: 'stdout', ...slackC9 }, 'slack C2'],
  ['slack', 'slack C1', { ...slackC9, discord: 'D9' }, 'slack C1'],
  ['discord', 'slack C1', { ...slackC9, discord: 'D9' }, 'discord D9'],
  ['slack nowhere', undefined, slack, 'bad-target: nowhere is no address'],
  [
    'slack',
    undefined,
    slack,
    'NO_ROUTE: channel slack has no recipient: give "to", set the last route, or set channels.slack.defaultTo',
  ],
  [
    'last',
    undefined,
    { terminal: undefined },
    'NO_ROUTE: channel whatsapp is not configured: add channels.whatsapp, or another channel with `reveille init channel NAME`',
  ],
  [
    'last',
    undefined,
    { terminal: undefined, ...slack },
    `NO_ROUTE: channel whatsapp is not configured: set channels.slack.defaultTo, or the last route with ${set} slack TO\``,
  ],
  [
    'last',
    undefined,
    { ...slack, telegram: undefined },
    `NO_ROUTE: channel whatsapp is not configured: set the last route with ${set} CHANNEL TO\``,
  ],
]

test('a reply goes to the recipient that is named, to that of the last route, or to the default of its channel', () => {
  for (const [asked, last, configured, expected] of cases) {
    const [channel = '', to] = asked.split(' ')
    const found = resolve({ channel, ...(to && { to }) }, last, configured)
    const shown = found.ok ? `${found.channel} ${found.to}` : `${found.code}: ${found.reason}`
    assert.equal(shown, expected, `${asked}, last ${last}, ${Object.keys(configured)}`)
    if (found.ok) assert.deepEqual(found.target, { key: found.to.toLowerCase(), kind: 'user' })
    else assert.equal(found.channel, channel === 'last' ? 'whatsapp' : channel)
  }
})

test('whatsapp stays the fallback if there is no single channel with a default recipient', () => {
  const slack = { defaultTo: 'C9' }
  const unclear: Parameters<typeof fallbackRoute>[0][] = [
    {},
    { terminal: { defaultTo: 'stdout' } },
    { slack: {} },
    { slack: { defaultTo: ' ' } },
    { slack, telegram: { defaultTo: '7' } },
    { slack, whatsapp: {} },
    { whatsapp: {}, slack },
  ]
  for (const channels of unclear)
    assert.deepEqual(fallbackRoute(channels), { channel: 'whatsapp' }, JSON.stringify(channels))
  assert.deepEqual(fallbackRoute({ slack, terminal: {} }), { channel: 'slack', to: 'C9' })
})
