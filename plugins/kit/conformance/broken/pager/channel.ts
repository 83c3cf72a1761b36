/** A channel that keeps every promise to and about a vendor, which the broken ones modify. */

import type { Channel, ChannelHealth, Part, Receipt, SendCall, Target } from '../../../channel.ts'
import { createWriter, type Dialect, plainDialect, renderParts } from '../../../markdown/index.ts'
import { PluginError } from '../../../plugin-error.ts'
import type { Redact } from '../../../quoting.ts'
import { readRetryAfter } from '../../../retry.ts'
import { callVendor, type VendorAnswer } from '../../../vendor-call.ts'

export interface PagerConfig {
  readonly token: string
  readonly baseUrl: string
  readonly defaultTo?: string
  /** True if the vendor recognises repeats. */
  readonly remembers: boolean
  /** The test that the pager has to fail. */
  readonly breaks?: string
}

const limits = { part: 400, unit: 'utf16' } as const

export function createPagerChannel(
  config: PagerConfig,
  fetch: typeof globalThis.fetch,
  redact: Redact,
): Channel {
  const { token, baseUrl, defaultTo, remembers } = config

  async function call(path: string, body: object | undefined, signal: AbortSignal): Promise<VendorAnswer> {
    const answer = await callVendor(fetch, {
      url: `${baseUrl}/${encodeURIComponent(token)}/${path}`,
      body,
      signal,
    })
    if (answer.status !== 200) throw failureOf(answer, redact)
    return answer
  }

  async function send({ text }: Part, { target, key, signal }: SendCall): Promise<Receipt> {
    const { json } = await call('messages', { to: target['to'], thread: target['thread'], text, key }, signal)
    const { id } = (json ?? {}) as { id?: string }
    if (typeof id !== 'string') throw unsure('The pager gave no receipt.')
    return { id }
  }

  async function check(signal: AbortSignal): Promise<ChannelHealth> {
    try {
      await call('me', undefined, signal)
      return { ok: true, detail: 'The pager accepts the token.' }
    } catch (error) {
      return { ok: false, detail: (error as Error).message }
    }
  }

  return {
    id: 'pager',
    limits,
    ...(remembers && { idempotency: { windowMs: 60_000 } }),
    ...(defaultTo !== undefined && { defaultTo }),
    target: parseTarget,
    render: (markdown) =>
      renderParts(markdown, {
        write: (blocks) => ({ text: write(blocks) }),
        measure: ({ text }) => text.length,
        limit: limits.part,
      }),
    send,
    check,
  }
}

/** `#ops` is a place, and `#ops:thread:12` a thread there. */
export function parseTarget(to: string): Target {
  const [, name, thread] = /^\s*(#\w+)(?::thread:(\d+))?\s*$/.exec(to) ?? []
  if (name === undefined) {
    throw new PluginError(`'${to}' is no address of the pager.`, { code: 'bad-target', retryable: false })
  }
  const place = { to: name.toLowerCase(), thread }
  return { key: `${place.to}/${thread ?? ''}`, kind: thread === undefined ? 'channel' : 'thread', ...place }
}

/** Writes markup as in HTML, in which an `@` before a word is a mention. */
const dialect: Dialect = {
  ...plainDialect,
  text: (text) => escapeText(text),
  strong: (inner) => `<b>${inner}</b>`,
  emphasis: (inner) => `<i>${inner}</i>`,
  strike: (inner) => `<s>${inner}</s>`,
  code: (text) => `<c>${escapeText(text)}</c>`,
  link: (inner) => inner,
  image: (description) => escapeText(description),
  heading: (inner) => `<b>${inner}</b>`,
  codeBlock: (text) => `<c>${escapeText(text)}</c>`,
  quote: (inner) => `<q>${inner}</q>`,
  table: ({ head, rows }, cell) => [head, ...rows].map((row) => row.map(cell).join(', ')).join('\n'),
}

const write = createWriter(dialect)

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('@', '@\u2060')
}

const codes: Readonly<Record<number, string>> = {
  401: 'bad-credential',
  403: 'forbidden',
  404: 'bad-target',
  429: 'rate-limited',
}

function failureOf({ status, headers, json }: VendorAnswer, redact: Redact): PluginError {
  const code = codes[status]
  const { error = 'no reason' } = (json ?? {}) as { error?: unknown }
  const message = `The pager answered ${status}: ${redact(String(error))}.`
  if (status === 502) return new PluginError(message, { code: 'unavailable', retryable: true })
  if (code === undefined) return unsure(message)
  return new PluginError(message, {
    code,
    retryable: status === 401 || status === 429,
    wholeService: status === 401,
    retryAfter: readRetryAfter(headers.get('retry-after'), Date.now()),
  })
}

function unsure(message: string): PluginError {
  return new PluginError(message, { code: 'unavailable', retryable: true, maybeDelivered: true })
}
