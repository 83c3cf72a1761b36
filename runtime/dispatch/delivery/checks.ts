/** Runs the `check` of channels in the background. The results are logged and shown, and nothing depends on them. */

import type { ChannelHealth } from '@reveille/kit'
import { boundedCall, type CallOutcome } from '../../agent/bounded-call.ts'
import { failureOf } from '../../agent/failure.ts'
import { cut } from '../../cut.ts'
import type { DispatchOptions } from '../options.ts'
import type { ChannelState } from './channel-state.ts'

type Health = NonNullable<ChannelState['health']>
type CheckResult = Pick<Health, 'ok' | 'detail'> & { readonly code?: string }

/** The time for one check. It is long because nothing waits for a check. Milliseconds. */
const checkTimeoutMs = 30_000
/** Maximum length of a detail of a result, in characters. */
const maxDetailLength = 1000

export function createChannelChecks(
  options: Pick<DispatchOptions, 'channel' | 'log' | 'now' | 'timers' | 'observer'>,
) {
  const { log, now, timers } = options
  const closing = new AbortController()
  const asking = new Set<Promise<void>>()
  /** The newest check of each channel, with its result. */
  const questions = new Map<string, { health?: Health }>()

  async function ask(name: string): Promise<void> {
    const question: { health?: Health } = {}
    questions.set(name, question)
    const bounds = { ms: checkTimeoutMs, stops: [closing.signal], timers }
    const outcome = await boundedCall(async (signal) => options.channel(name)?.check?.(signal), bounds)
    if (outcome.kind === 'interrupted' || questions.get(name) !== question) return
    // The channel has no `check`.
    if (outcome.kind === 'answered' && outcome.answer === undefined) return
    const { ok, code, detail } = checkResultOf(outcome)
    question.health = { ok, ...(detail !== undefined && { detail }), at: now() }
    options.observer?.channelChecked?.({ channel: name, ok, code, detail })
    if (ok) log.info({ event: 'channel-checked', channel: name, detail }, 'the channel is good')
    else
      log.warn(
        { event: 'channel-check-failed', channel: name, code, reason: detail },
        'the channel is not good',
      )
  }

  return {
    /** Checks each of these channels that has a `check`. Their earlier results no longer hold. Never throws. */
    check(channels: readonly string[]) {
      if (closing.signal.aborted) return
      for (const name of channels) {
        const check = ask(name).finally(() => asking.delete(check))
        asking.add(check)
      }
    },
    /** Drops the result of a failed check, because the channel has sent a message since. */
    sent(channel: string) {
      if (questions.get(channel)?.health?.ok === false) questions.delete(channel)
    },
    healthOf: (channel: string): Health | undefined => questions.get(channel)?.health,
    /** Drops the results of all other channels. */
    keep(channels: ReadonlySet<string>) {
      for (const name of questions.keys()) if (!channels.has(name)) questions.delete(name)
    },
    /** Starts no further check. Resolves when no check is running. */
    async close(): Promise<void> {
      closing.abort(new Error('the gateway stops'))
      await Promise.all(asking)
    },
  }
}

function checkResultOf(outcome: CallOutcome<ChannelHealth | undefined>): CheckResult {
  if (outcome.kind === 'answered') {
    const { ok, detail } = outcome.answer ?? { ok: false }
    return { ok: ok === true, ...(typeof detail === 'string' && { detail: cut(detail, maxDetailLength) }) }
  }
  if (outcome.kind === 'timed-out') {
    return { ok: false, code: 'TIMEOUT', detail: `it did not answer within ${checkTimeoutMs / 1000} s` }
  }
  const { code, reason } = failureOf(outcome.error, 'CHANNEL_FAILED')
  return { ok: false, code, detail: reason }
}
