/** Channels that each break one promise, under the name of the test that has to notice. Run by suites.test.ts. */

import { createServer } from 'node:net'
import type { Channel } from '../../channel.ts'
import { PluginError } from '../../plugin-error.ts'
import { splitMarkdown } from '../../split.ts'
import { type ChannelFixture, channelConformance } from '../index.ts'
import { createGoodChannel, secret } from './good.ts'

function spoil(change: (channel: Channel) => Partial<Channel>): () => ChannelFixture {
  return () => {
    const fixture = createGoodChannel()
    return { ...fixture, channel: { ...fixture.channel, ...change(fixture.channel) } }
  }
}

function cutEvery(units: number) {
  return (markdown: string) =>
    Array.from({ length: Math.ceil(markdown.length / units) }, (_, index) => ({
      text: markdown.slice(index * units, (index + 1) * units),
    }))
}

const forever = new AbortController().signal
const inert = new URL('./inert-plugin.ts', import.meta.url)

suite('a good channel', createGoodChannel)
suite(
  'delivers a short text as one message',
  spoil((channel) => ({ send: (part, call) => channel.send({ text: part.text.slice(1) }, call) })),
)
suite(
  'delivers a long text as parts within the limit that hold all its words in order',
  spoil((channel) => ({ render: (markdown) => channel.render(markdown.slice(0, channel.limits.part)) })),
)
suite(
  'closes a code fence at a cut and opens it again with its language',
  spoil((channel) => ({
    render: (markdown) =>
      splitMarkdown(markdown, channel.limits).map((text) => ({ text: text.replace('```ts', '```') })),
  })),
)
suite(
  'cuts no emoji and no combined character',
  spoil((channel) => ({ render: cutEvery(channel.limits.part - 1) })),
)
suite(
  'renders all of a reply, however many messages it takes: how many are sent is for the host to say',
  spoil((channel) => ({ render: (markdown) => channel.render(markdown).slice(0, 11) })),
)
suite(
  'sends nothing for blank text',
  spoil(() => ({ render: (text) => [{ text }] })),
)
suite(
  'refuses what is no address with bad-target',
  spoil(() => ({ target: (to) => ({ key: to.toLowerCase(), kind: 'channel' }) })),
)
suite(
  'gives one place one key, and two places two',
  spoil((channel) => ({ target: (to) => ({ ...channel.target(to), key: to }) })),
)
suite(
  'gives one message for a key that is sent twice',
  spoil((channel) => ({
    send: (part, call) => channel.send(part, { ...call, key: call.key + Math.random() }),
  })),
)
suite(
  'answers a receipt that can be stored and tells no secret',
  spoil((channel) => ({
    async send(part, call) {
      return { ...(await channel.send(part, call)), url: `https://example.org/${secret}/send` }
    },
  })),
)
suite(
  'sends nothing and throws a PluginError soon when it is called off before it starts',
  spoil((channel) => ({
    send: (part, call) => channel.send(part, call.signal.aborted ? { ...call, signal: forever } : call),
  })),
)
suite(
  'throws a PluginError soon when it is called off in the middle',
  spoil((channel) => ({
    send: (part, call) =>
      channel.send(part, call).catch(() => {
        throw new Error('no PluginError')
      }),
  })),
)
suite(
  'throws a PluginError that tells no secret when the vendor refuses',
  spoil((channel) => ({
    send: (part, call) =>
      channel.send(part, call).catch(() => {
        throw new PluginError(`401 for ${secret}`, { code: 'bad-credential', retryable: false })
      }),
  })),
)
suite('leaves nothing open after close', () => {
  createServer().listen(0, '127.0.0.1')
  return createGoodChannel()
})
suite('does nothing on import', createGoodChannel, new URL('./busy-plugin.ts', import.meta.url))

function suite(name: string, create: () => ChannelFixture, plugin = inert): void {
  channelConformance({
    name,
    create,
    plugin,
    places: [['#ops', '#OPS'], ['#dev']],
    badAddresses: ['ops', '#'],
    secrets: [secret],
  })
}
