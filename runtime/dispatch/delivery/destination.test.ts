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

const configured = (...channels: Channel[]) => {
  const byName = new Map(channels.map((channel) => [channel.id, channel]))
  const settings = channels.map(({ id, defaultTo }) => [id, defaultTo === undefined ? {} : { defaultTo }])
  return { channel: (name: string) => byName.get(name), channels: Object.fromEntries(settings) }
}

test('last is the last route', () => {
  const found = resolveDestination(
    { channel: 'last' },
    { channel: 'slack', to: 'C1' },
    configured(channelNamed('slack')),
  )
  assert.deepEqual(found, { ok: true, channel: 'slack', to: 'C1', target: { key: 'c1', kind: 'user' } })
})

test('last falls back to whatsapp', () => {
  const found = resolveDestination(
    { channel: 'last' },
    undefined,
    configured(channelNamed('whatsapp', '+49')),
  )
  assert.equal(found.ok && `${found.channel} ${found.to}`, 'whatsapp +49')
})

test('last falls back to the only configured channel if it has a default recipient', () => {
  const slack = channelNamed('slack', 'C9')
  const alone = resolveDestination({ channel: 'last' }, undefined, configured(slack))
  const beside = resolveDestination(
    { channel: 'last', to: 'C2' },
    undefined,
    configured(channelNamed('terminal', 'stdout'), slack),
  )
  assert.equal(alone.ok && `${alone.channel} ${alone.to}`, 'slack C9')
  assert.equal(beside.ok && `${beside.channel} ${beside.to}`, 'slack C2')
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
  for (const channels of unclear) {
    assert.deepEqual(fallbackRoute(channels), { channel: 'whatsapp' }, JSON.stringify(channels))
  }
  assert.deepEqual(fallbackRoute({ slack, terminal: {} }), { channel: 'slack', to: 'C9' })
})

test('last with an explicit recipient keeps the recipient', () => {
  const found = resolveDestination(
    { channel: 'last', to: 'C2' },
    { channel: 'slack', to: 'C1' },
    configured(channelNamed('slack')),
  )
  assert.equal(found.ok && found.to, 'C2')
})

test("a named channel without recipient takes the last route's, if that is the same channel", () => {
  const channels = configured(channelNamed('slack', 'C9'), channelNamed('discord', 'D9'))
  const last = { channel: 'slack', to: 'C1' }
  const same = resolveDestination({ channel: 'slack' }, last, channels)
  const other = resolveDestination({ channel: 'discord' }, last, channels)
  assert.deepEqual([same.ok && same.to, other.ok && other.to], ['C1', 'D9'])
})

test("a last route without recipient leaves the channel's default", () => {
  const found = resolveDestination(
    { channel: 'last' },
    { channel: 'slack' },
    configured(channelNamed('slack', 'C9')),
  )
  assert.equal(found.ok && found.to, 'C9')
})

test('without a usable destination there is NO_ROUTE and a sentence that names the fix', () => {
  const unconfigured = resolveDestination({ channel: 'last' }, undefined, configured())
  const aimless = resolveDestination({ channel: 'slack' }, undefined, configured(channelNamed('slack')))
  assert.ok(!unconfigured.ok && !aimless.ok)
  assert.deepEqual([unconfigured.channel, unconfigured.code], ['whatsapp', 'NO_ROUTE'])
  assert.match(unconfigured.reason, /channels\.whatsapp/)
  assert.deepEqual([aimless.channel, aimless.code], ['slack', 'NO_ROUTE'])
  assert.match(aimless.reason, /channels\.slack\.defaultTo/)
})

test("a recipient that the channel refuses keeps the channel's code", () => {
  const found = resolveDestination(
    { channel: 'slack', to: 'nowhere' },
    undefined,
    configured(channelNamed('slack')),
  )
  assert.deepEqual(found, {
    ok: false,
    channel: 'slack',
    to: 'nowhere',
    code: 'bad-target',
    reason: 'nowhere is no address',
  })
})

test('without a last route and an assumed one, the reason says what to do with the configured channels', () => {
  const reasonOf = (...channels: Channel[]) => {
    const found = resolveDestination({ channel: 'last' }, undefined, configured(...channels))
    return found.ok ? undefined : found.reason
  }
  const [terminal, slack, telegram] = ['terminal', 'slack', 'telegram'].map((id) => channelNamed(id)) as [
    Channel,
    Channel,
    Channel,
  ]
  assert.deepEqual(
    [reasonOf(terminal), reasonOf(terminal, slack), reasonOf(slack, telegram)],
    [
      'channel whatsapp is not configured: add channels.whatsapp, or another channel with `reveille init channel NAME`',
      'channel whatsapp is not configured: set channels.slack.defaultTo, or the last route with `reveille route set slack TO`',
      'channel whatsapp is not configured: set the last route with `reveille route set CHANNEL TO`',
    ],
  )
})
