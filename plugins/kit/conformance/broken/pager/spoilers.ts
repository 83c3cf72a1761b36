/** Owns what is spoiled of the pager, by the file of tests and under the name of the test that has to notice. */

import type { Channel, Part } from '../../../channel.ts'
import type { PluginLog } from '../../../plugin.ts'
import { PluginError, type PluginErrorOptions } from '../../../plugin-error.ts'
import type { Redact } from '../../../quoting.ts'
import type { PagerConfig } from './channel.ts'

interface Around {
  readonly config: PagerConfig
  readonly log: PluginLog
}

export interface Spoiler {
  channel?(channel: Channel, around: Around): Partial<Channel>
  readonly redact?: Redact
  readonly checksNothing?: boolean
}

/** Sends another text than was rendered. */
function rewriting(change: (text: string) => string): Spoiler {
  return {
    channel: (channel) => ({ send: (part, call) => channel.send({ text: change(part.text) }, call) }),
  }
}

function rendering(change: (markdown: string, render: (markdown: string) => Part[]) => Part[]): Spoiler {
  return { channel: (channel) => ({ render: (markdown) => change(markdown, channel.render) }) }
}

/** Says something else of the failures that `isMeant`. */
function misjudging(isMeant: (error: PluginError) => boolean, facts: Partial<PluginErrorOptions>): Spoiler {
  return {
    channel: (channel) => ({
      send: (part, call) =>
        channel.send(part, call).catch((error: PluginError) => {
          throw isMeant(error) ? new PluginError(error.message, { ...error, ...facts }) : error
        }),
    }),
  }
}

/** Takes failures that `isMeant` for success. */
function pretending(isMeant: (error: PluginError) => boolean): Spoiler {
  return {
    channel: (channel) => ({
      send: (part, call) =>
        channel.send(part, call).catch((error: PluginError) => {
          if (isMeant(error)) return { id: call.key }
          throw error
        }),
    }),
  }
}

const says = (word: string) => (error: PluginError) => error.message.includes(word)

export const spoilersOf = {
  arrival: {
    'shows a plain text to the letter': rewriting((text) => text.replace('漢', '?')),
    'stores of each part what a person shall read of it': rewriting((text) =>
      text.replace('Report', 'Rapport'),
    ),
    'stores a long text in messages that join to it': rendering((markdown, render) =>
      render(
        markdown.startsWith('Line 1 says a little more. Then it stops.\n\n')
          ? markdown.slice(0, -10)
          : markdown,
      ),
    ),
    'keeps code code in each message that it is cut over': rendering((markdown, render) => {
      if (!markdown.startsWith('~~~ts')) return render(markdown)
      const half = markdown.indexOf('\n', markdown.length / 2)
      return [...render(markdown.slice(0, half)), ...render(markdown.slice(half).replace('~~~', ''))]
    }),
    'shows formatting and not its marks': rewriting((text) => text.replace('<b>bold</b>', '**bold**')),
    'writes into the thread that the address names': {
      channel: (channel) => ({
        send: (part, call) => channel.send(part, { ...call, target: { ...call.target, thread: undefined } }),
      }),
    },
    'calls nobody, whatever the text says': rewriting((text) => text.replaceAll('\u2060', '')),
  },
  refusals: {
    'holds the whole channel back when the credential is refused': misjudging(says('revoked-token'), {
      wholeChannel: false,
    }),
    'holds the whole channel back when it has another credential than the vendor': misjudging(
      says('unknown-token'),
      {
        retryable: false,
      },
    ),
    'says that nothing mends what it may not do': misjudging(says('muted'), { retryable: true }),
    'says that nothing mends an address that nobody has': misjudging(says('unknown-recipient'), {
      retryable: true,
    }),
    'waits as long as the vendor says, and leaves the trying to the host': misjudging(says('slow-down'), {
      retryAfter: 1,
    }),
    'tells an error of the vendor that may have delivered from one that has not': misjudging(says('broken'), {
      maybeDelivered: false,
    }),
    'takes the page of something in between for no answer of the vendor': misjudging(says('502'), {
      maybeDelivered: true,
    }),
    'takes no page for a receipt, though its status is good': pretending(says('no receipt')),
    'follows no redirect': misjudging(({ code }) => code === 'redirected', { retryable: true }),
    'refuses an answer of 2 MiB': pretending(says('longer than')),
  },
  connections: {
    'ends with its deadline and lets go of the connection when the vendor is silent': misjudging(
      ({ code }) => code === 'timeout',
      { code: 'network' },
    ),
    'ends soon when it is called off while the vendor works': misjudging(
      ({ code, maybeDelivered }) => code === 'aborted' && maybeDelivered,
      { retryable: false },
    ),
    'knows that nothing was delivered where nobody answers the door': misjudging(says('ECONNREFUSED'), {
      maybeDelivered: true,
    }),
    'gives one message when a cut send is tried again, or says that there may be two': misjudging(
      says('UND_ERR_SOCKET'),
      { maybeDelivered: false },
    ),
    'gives one message when a send that the vendor spoke ill of is tried again': {
      channel(channel) {
        let failures = 0
        return {
          send: (part, call) =>
            channel.send(part, { ...call, key: `${call.key}/${failures}` }).catch((error: PluginError) => {
              if (error.code === 'unavailable') failures += 1
              throw error
            }),
        }
      },
    },
  },
  secrecy: {
    'tells no secret, though the vendor does': { redact: (text) => text },
    'tells no secret when a connection fails it': {
      channel: (channel, { config, log }) => ({
        send: (part, call) =>
          channel.send(part, call).catch((error: PluginError) => {
            if (error.code === 'network') log.warn('failed', { path: `/${encodeURIComponent(config.token)}` })
            throw error
          }),
      }),
    },
    'tells no secret in what is kept and logged of a reply': {
      channel: (channel, { config, log }) => ({
        async send(part, call) {
          const receipt = await channel.send(part, call)
          log.info('sent', { token: config.token })
          return receipt
        },
      }),
    },
  },
  configuration: {
    'says that a good credential is good, and sends nothing': {
      channel: (channel) => ({
        async check(signal) {
          const target = channel.target('#ops')
          const failure = await channel
            .send({ text: 'A test.' }, { target, key: 'check', signal })
            .catch(String)
          return typeof failure === 'string' ? { ok: false, detail: 'It does not work.' } : { ok: true }
        },
      }),
    },
    'says in a sentence that a bad credential is bad': {
      channel: (channel) => ({
        async check(signal) {
          const health = await channel.check?.(signal)
          return health?.detail?.includes('unknown-token') ? { ok: false } : { ok: true, ...health }
        },
      }),
    },
    'says in a sentence that the service is not there': {
      channel: (channel) => ({
        async check(signal) {
          const health = await channel.check?.(signal)
          return { ok: true, ...health, ...(health?.detail?.includes('ECONNREFUSED') && { ok: true }) }
        },
      }),
    },
    'takes an address of its own as `defaultTo`': { channel: () => ({ defaultTo: '#general' }) },
    'refuses a `defaultTo` that is no address, in `check` and in `setup`': { checksNothing: true },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Spoiler>>>>

export const spoilers: Readonly<Record<string, Spoiler>> = Object.assign({}, ...Object.values(spoilersOf))
