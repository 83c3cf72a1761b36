/** The modifications that break the pager, by the file of tests and the name of the test that has to notice. */

import type { Channel, ChannelHealth, Part, Receipt, SendCall } from '../../../channel.ts'
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

/** Sends a text other than the rendered one. */
function rewriting(change: (text: string) => string): Spoiler {
  return { channel: (channel) => ({ send: (part, call) => channel.send({ text: change(part.text) }, call) }) }
}

function rendering(change: (markdown: string, render: (markdown: string) => Part[]) => Part[]): Spoiler {
  return { channel: (channel) => ({ render: (markdown) => change(markdown, channel.render) }) }
}

/** Replaces the errors of sends by others, or by a receipt. */
function failing(
  change: (error: PluginError, call: SendCall, around: Around) => PluginError | Receipt,
): Spoiler {
  return {
    channel: (channel, around) => ({
      send: (part, call) =>
        channel.send(part, call).catch((error: PluginError) => {
          const changed = change(error, call, around)
          if (changed instanceof Error) throw changed
          return changed
        }),
    }),
  }
}

type Matches = (error: PluginError) => boolean

/** Changes the errors for which `matches` is true. */
const misjudging = (matches: Matches, facts: Partial<PluginErrorOptions>) =>
  failing((error) => (matches(error) ? new PluginError(error.message, { ...error, ...facts }) : error))

/** Treats errors for which `matches` is true as success. */
const pretending = (matches: Matches) => failing((error, { key }) => (matches(error) ? { id: key } : error))

/** Changes what the check of the service returns. */
const checking = (change: (health: ChannelHealth | undefined) => ChannelHealth): Spoiler => ({
  channel: (channel) => ({ check: async (signal) => change(await channel.check?.(signal)) }),
})

const says = (word: string) => (error: PluginError) => error.message.includes(word)
const has = (wanted: string) => (error: PluginError) => error.code === wanted
const isRetried = { retryable: true }
const isDelivered = { maybeDelivered: true }
const isNotDelivered = { maybeDelivered: false }

export const spoilersOf = {
  arrival: {
    'shows a plain text unchanged': rewriting((text) => text.replace('漢', '?')),
    'stores each part as the text that a person reads': rewriting((text) =>
      text.replace('Report', 'Rapport'),
    ),
    'stores a long text in messages that together make up the text': rendering((markdown, render) =>
      render(
        markdown.startsWith('Line 1 says a little more. Then it stops.\n\n')
          ? markdown.slice(0, -10)
          : markdown,
      ),
    ),
    'keeps code as code in every message that it is cut into': rendering((markdown, render) => {
      if (!markdown.startsWith('~~~ts')) return render(markdown)
      const half = markdown.indexOf('\n', markdown.length / 2)
      return [...render(markdown.slice(0, half)), ...render(markdown.slice(half).replace('~~~', ''))]
    }),
    'shows formatting instead of its marks': rewriting((text) => text.replace('<b>bold</b>', '**bold**')),
    'writes into the thread of the address': {
      channel: (channel) => ({
        send: (part, call) => channel.send(part, { ...call, target: { ...call.target, thread: undefined } }),
      }),
    },
    'mentions no one, whatever the text says': rewriting((text) => text.replaceAll('\u2060', '')),
  },
  refusals: {
    'holds the whole channel back when the credential is refused': misjudging(says('revoked-token'), {
      wholeService: false,
    }),
    'holds the whole channel back when it has another credential than the vendor': misjudging(
      says('unknown-token'),
      { retryable: false },
    ),
    'reports that no retry helps if sending is not allowed': misjudging(says('muted'), isRetried),
    'reports that no retry helps with an unknown address': misjudging(says('unknown-recipient'), isRetried),
    'reports how long the vendor asks to wait, and leaves retries to the host': misjudging(
      says('slow-down'),
      { retryAfter: 1 },
    ),
    'distinguishes an error of the vendor that may have delivered from one that has not': misjudging(
      says('broken'),
      isNotDelivered,
    ),
    'does not take the page of a proxy for an answer of the vendor': misjudging(says('502'), isDelivered),
    'does not take a page for a receipt, even with a good status': pretending(says('no receipt')),
    'follows no redirect': misjudging(has('redirected'), isRetried),
    'refuses an answer of 2 MiB': pretending(says('longer than')),
  },
  connections: {
    'ends with its deadline and closes the connection when the vendor is silent': misjudging(has('timeout'), {
      code: 'network',
    }),
    'ends soon when aborted while the vendor works': misjudging(
      ({ code, maybeDelivered }) => code === 'aborted' && maybeDelivered,
      { retryable: false },
    ),
    'knows that nothing was delivered when the connection is refused': misjudging(
      says('ECONNREFUSED'),
      isDelivered,
    ),
    'delivers one message when a cut send is retried, or reports that there may be two': misjudging(
      says('UND_ERR_SOCKET'),
      isNotDelivered,
    ),
    'delivers one message when a send that the vendor reported as failed is retried': {
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
    'shows no secret, even if the vendor does': { redact: (text) => text },
    'shows no secret when a connection fails': failing((error, _call, { config, log }) => {
      if (error.code === 'network') log.warn('failed', { path: `/${encodeURIComponent(config.token)}` })
      return error
    }),
    'shows no secret in what is stored and logged of a reply': {
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
    'reports a good credential, and sends nothing': {
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
    'reports a bad credential in a sentence': checking((health) =>
      health?.detail?.includes('unknown-token') ? { ok: false } : { ok: true, ...health },
    ),
    'reports an unreachable service in a sentence': checking((health) => ({
      ...{ ok: true, ...health },
      ...(health?.detail?.includes('ECONNREFUSED') && { ok: true }),
    })),
    'accepts an address of its own as `defaultTo`': { channel: () => ({ defaultTo: '#general' }) },
    'refuses a `defaultTo` that is not an address, in `check` and in `setup`': { checksNothing: true },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Spoiler>>>>

export const spoilers: Readonly<Record<string, Spoiler>> = Object.assign({}, ...Object.values(spoilersOf))
