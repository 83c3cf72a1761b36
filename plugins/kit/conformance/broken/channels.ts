/** Channels that each break one promise, under the name of the test that has to notice. suites.test.ts runs them. */

import { createServer } from 'node:net'
import { describe } from 'node:test'
import type { Channel } from '../../channel.ts'
import { splitMarkdown } from '../../markdown/index.ts'
import { PluginError } from '../../plugin-error.ts'
import { channelTest } from '../channel.ts'
import { type ChannelFixture, channelConformance } from '../index.ts'
import { createGoodChannel, secret } from './good.ts'

function spoil(change: (channel: Channel) => Partial<Channel>): () => ChannelFixture {
  return () => {
    const fixture = createGoodChannel()
    return { ...fixture, channel: { ...fixture.channel, ...change(fixture.channel) } }
  }
}

const failing = (error: Error) =>
  spoil(({ send }) => ({ send: (part, call) => send(part, call).catch(() => Promise.reject(error)) }))

function cutEvery(units: number) {
  return (markdown: string) =>
    Array.from({ length: Math.ceil(markdown.length / units) }, (_, index) => ({
      text: markdown.slice(index * units, (index + 1) * units),
    }))
}

const forever = new AbortController().signal

const broken: Readonly<Record<string, () => ChannelFixture>> = {
  'delivers a short text as one message': spoil((channel) => ({
    send: (part, call) => channel.send({ text: part.text.slice(1) }, call),
  })),
  'delivers a long text as parts within the limit that hold all of its words in order': spoil((channel) => ({
    render: (markdown) => channel.render(markdown.slice(0, channel.limits.part)),
  })),
  'closes a code fence at a cut and opens it again with its language': spoil((channel) => ({
    render: (markdown) =>
      splitMarkdown(markdown, channel.limits).map((text) => ({ text: text.replace('```ts', '```') })),
  })),
  'does not cut emoji and combined characters': spoil((channel) => ({
    render: cutEvery(channel.limits.part - 1),
  })),
  'renders the whole reply in as many messages as it takes, since the host decides how many are sent': spoil(
    (channel) => ({ render: (markdown) => channel.render(markdown).slice(0, 11) }),
  ),
  'sends nothing for blank text': spoil(() => ({ render: (text) => [{ text }] })),
  'refuses a text that is not an address with bad-target': spoil(() => ({
    target: (to) => ({ key: to.toLowerCase(), kind: 'channel' }),
  })),
  'gives each place one key, and different places different keys': spoil((channel) => ({
    target: (to) => ({ ...channel.target(to), key: to }),
  })),
  'sends one message for a key that is sent twice': spoil((channel) => ({
    send: (part, call) => channel.send(part, { ...call, key: call.key + Math.random() }),
  })),
  'returns a receipt that can be stored and shows no secret': spoil((channel) => ({
    async send(part, call) {
      return { ...(await channel.send(part, call)), url: `https://example.org/${secret}/send` }
    },
  })),
  'sends nothing and soon throws a PluginError when aborted before it starts': spoil((channel) => ({
    send: (part, call) => channel.send(part, call.signal.aborted ? { ...call, signal: forever } : call),
  })),
  'soon throws a PluginError when aborted in the middle': failing(new Error('no PluginError')),
  'throws a PluginError that shows no secret when the vendor refuses': failing(
    new PluginError(`401 for ${secret}`, { code: 'bad-credential', retryable: false }),
  ),
  'leaves nothing open after close': () => {
    createServer().listen(0, '127.0.0.1')
    return createGoodChannel()
  },
}

const options = {
  plugin: new URL('./inert-plugin.ts', import.meta.url),
  places: [['#ops', '#OPS'], ['#dev']],
  badAddresses: ['ops', '#'],
  secrets: [secret],
}
const busy = { ...options, plugin: new URL('./busy-plugin.ts', import.meta.url), create: createGoodChannel }

channelConformance({ ...options, name: 'a good channel', create: createGoodChannel })
for (const [breaks, create] of Object.entries(broken))
  describe(breaks, () => channelTest(breaks, { ...options, create }))
describe('does nothing on import', () => channelTest('does nothing on import', busy))
