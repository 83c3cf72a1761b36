/** The modifications that break the pager, by the file of tests and the name of the test that has to notice. */

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

/** Sends a text other than the rendered one. */
function rewriting(change: (text: string) => string): Spoiler {
  return {
    channel: (channel) => ({ send: (part, call) => channel.send({ text: change(part.text) }, call) }),
  }
}

function rendering(change: (markdown: string, render: (markdown: string) => Part[]) => Part[]): Spoiler {
  return { channel: (channel) => ({ render: (markdown) => change(markdown, channel.render) }) }
}

/** Changes the errors for which `matches` is true. */
function misjudging(matches: (error: PluginError) => boolean, facts: Partial<PluginErrorOptions>): Spoiler {
  return {
    channel: (channel) => ({
      send: (part, call) =>
        channel.send(part, call).catch((error: PluginError) => {
          throw matches(error) ? new PluginError(error.message, { ...error, ...facts }) : error
        }),
    }),
  }
}

/** Treats errors for which `matches` is true as success. */
function pretending(matches: (error: PluginError) => boolean): Spoiler {
  return {
    channel: (channel) => ({
      send: (part, call) =>
        channel.send(part, call).catch((error: PluginError) => {
          if (matches(error)) return { id: call.key }
          throw error
        }),
    }),
  }
}

const says = (word: string) => (error: PluginError) => error.message.includes(word)

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
      {
        retryable: false,
      },
    ),
    'reports that no retry helps if sending is not allowed': misjudging(says('muted'), {
      retryable: true,
    }),
    'reports that no retry helps with an unknown address': misjudging(says('unknown-recipient'), {
      retryable: true,
    }),
    'reports how long the vendor asks to wait, and leaves retries to the host': misjudging(
      says('slow-down'),
      {
        retryAfter: 1,
      },
    ),
    'distinguishes an error of the vendor that may have delivered from one that has not': misjudging(
      says('broken'),
      {
        maybeDelivered: false,
      },
    ),
    'does not take the page of a proxy for an answer of the vendor': misjudging(says('502'), {
      maybeDelivered: true,
    }),
    'does not take a page for a receipt, even with a good status': pretending(says('no receipt')),
    'follows no redirect': misjudging(({ code }) => code === 'redirected', { retryable: true }),
    'refuses an answer of 2 MiB': pretending(says('longer than')),
  },
  connections: {
    'ends with its deadline and closes the connection when the vendor is silent': misjudging(
      ({ code }) => code === 'timeout',
      { code: 'network' },
    ),
    'ends soon when aborted while the vendor works': misjudging(
      ({ code, maybeDelivered }) => code === 'aborted' && maybeDelivered,
      { retryable: false },
    ),
    'knows that nothing was delivered when the connection is refused': misjudging(says('ECONNREFUSED'), {
      maybeDelivered: true,
    }),
    'delivers one message when a cut send is retried, or reports that there may be two': misjudging(
      says('UND_ERR_SOCKET'),
      { maybeDelivered: false },
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
    'shows no secret when a connection fails': {
      channel: (channel, { config, log }) => ({
        send: (part, call) =>
          channel.send(part, call).catch((error: PluginError) => {
            if (error.code === 'network') log.warn('failed', { path: `/${encodeURIComponent(config.token)}` })
            throw error
          }),
      }),
    },
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
    'reports a bad credential in a sentence': {
      channel: (channel) => ({
        async check(signal) {
          const health = await channel.check?.(signal)
          return health?.detail?.includes('unknown-token') ? { ok: false } : { ok: true, ...health }
        },
      }),
    },
    'reports an unreachable service in a sentence': {
      channel: (channel) => ({
        async check(signal) {
          const health = await channel.check?.(signal)
          return { ok: true, ...health, ...(health?.detail?.includes('ECONNREFUSED') && { ok: true }) }
        },
      }),
    },
    'accepts an address of its own as `defaultTo`': { channel: () => ({ defaultTo: '#general' }) },
    'refuses a `defaultTo` that is not an address, in `check` and in `setup`': { checksNothing: true },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Spoiler>>>>

export const spoilers: Readonly<Record<string, Spoiler>> = Object.assign({}, ...Object.values(spoilersOf))
