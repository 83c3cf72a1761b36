/** Describes what every vendor's fake server offers, so that one conformance suite tests all channels. */

import assert from 'node:assert/strict'
import type { Channel, ChannelHealth, Receipt } from '../channel.ts'
import { isPluginError, type PluginError } from '../plugin-error.ts'
import type { FakeServer, FakeServerAnswer } from './server.ts'

/** One message that the vendor has stored, as a person would see it. */
export interface VendorMessage {
  /** The recipient, in the vendor's terms. */
  readonly to: string
  /** The text a person reads once the markup has been applied. */
  readonly text: string
  readonly [fact: string]: unknown
}

export interface FakeVendor extends FakeServer {
  /** The messages in the order in which they were stored. */
  readonly messages: readonly VendorMessage[]
  /** Whom the messages mentioned (`@everyone`, a user's name), in the vendor's terms. Absent if the vendor has no mentions. */
  readonly pings?: readonly string[]
  /** A configuration with which the channel works against this fake server. */
  readonly config: Readonly<Record<string, unknown>>
  /** The credentials in that configuration. */
  readonly secrets: readonly string[]
  /** An address, as `to` names it, that takes messages. */
  readonly to: string
  /** A well-formed address that does not exist. */
  readonly unknownTo: string
  /** The address of a thread; absent if the vendor has no threads. */
  readonly threadTo?: string
  /** The vendor's own answers to what goes wrong. */
  readonly refusals: {
    readonly badCredential: FakeServerAnswer
    readonly forbidden: FakeServerAnswer
    /** Asks the caller to wait for so many seconds. */
    rateLimited(seconds: number): FakeServerAnswer
    readonly serverError: FakeServerAnswer
    /** True if the vendor documents that nothing was done when it answers so. Default: false. */
    readonly serverErrorIsSafe?: boolean
  }
}

/** The answer of a proxy before the vendor that does not reach it. */
export const badGateway: FakeServerAnswer = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
}

/** The same answer with a `Retry-After` header of so many seconds. */
export function withRetryAfter(answer: FakeServerAnswer, seconds: number): FakeServerAnswer {
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } }
}

/** A channel in front of the fake server of its vendor, for tests of what is particular to the vendor. */
export interface ChannelBed<Vendor extends FakeVendor> extends AsyncDisposable {
  readonly vendor: Vendor
  readonly channel: Channel
  /** Sends each part of a reply. Default: `Hello`, to the fake server's own address. @throws the error of the channel */
  send(markdown?: string, to?: string, delivery?: string): Promise<Receipt[]>
  /** Returns the error of such a reply. */
  failure(to?: string, markdown?: string): Promise<PluginError>
  /** Returns the channel's check of its service. */
  check(): Promise<ChannelHealth> | undefined
  /** The texts that the vendor has stored. */
  texts(): string[]
  /** Asserts what the errors of replies say that the vendor answers so, or that go to an address that it refuses. */
  assertMeanings(meanings: readonly Meaning[]): Promise<void>
}

/** An answer or an address, the error's facts as `factsOf` returns them, and what its message matches. */
export type Meaning = readonly [refused: FakeServerAnswer | string, facts: string, message?: RegExp]

/** Returns the PluginError that a promise is rejected with, and fails if there is none. */
export async function failureOf(promise: Promise<unknown>): Promise<PluginError> {
  const error = await promise.then(
    (result) => `it succeeded: ${JSON.stringify(result)}`,
    (reason: unknown) => reason,
  )
  assert.ok(isPluginError(error), String(error))
  return error
}

/** Returns the code of an error, followed by the names of its flags that are true, and the seconds to wait: `forbidden`. */
export function factsOf(error: PluginError): string {
  const flags = (['retryable', 'wholeService', 'maybeDelivered'] as const).filter((flag) => error[flag])
  const wait = error.retryAfter === undefined ? [] : [`after ${error.retryAfter} s`]
  return [error.code, ...flags, ...wait].join(' ')
}

export function openBed<Vendor extends FakeVendor>(vendor: Vendor, channel: Channel): ChannelBed<Vendor> {
  async function send(markdown = 'Hello', to = vendor.to, delivery = 'd'): Promise<Receipt[]> {
    const { signal } = new AbortController()
    const target = channel.target(to)
    const receipts: Receipt[] = []
    for (const [index, part] of channel.render(markdown).entries()) {
      receipts.push(await channel.send(part, { target, key: `${delivery}:${index + 1}`, signal }))
    }
    return receipts
  }
  const failure = (to?: string, markdown?: string) => failureOf(send(markdown, to))
  async function assertMeanings(meanings: readonly Meaning[]): Promise<void> {
    for (const [refused, facts, message = /./] of meanings) {
      const isAddress = typeof refused === 'string'
      vendor.always(isAddress ? undefined : { kind: 'answer', answer: refused })
      const error = await failure(isAddress ? refused : undefined)
      assert.equal(factsOf(error), facts, `${JSON.stringify(refused)}: ${error.message}`)
      assert.match(error.message, message)
    }
    vendor.always(undefined)
  }
  return {
    vendor,
    channel,
    send,
    failure,
    check: () => channel.check?.(new AbortController().signal),
    texts: () => vendor.messages.map(({ text }) => text),
    assertMeanings,
    [Symbol.asyncDispose]: vendor.close,
  }
}
