/** Owns sending through signal-cli-rest-api (bbernhard), which wraps signal-cli. */

import { callVendor, recordOf, textOf, timeOf, urlBelow } from '@reveille/kit'
import type { Daemon, DaemonOptions } from '../daemon.ts'
import type { SignalTarget } from '../target.ts'
import { failureOf } from './failure.ts'

/**
 * Text goes without styles. The mode `styled` of this API takes every `*`, `|`, `~` and backtick for a mark, wherever it is,
 * and drops it (its `textstyleparser.go`); text of an agent would lose letters.
 */
export function createRestDaemon({ config, fetch, now }: DaemonOptions): Daemon {
  return {
    async send({ text }, { target, signal }) {
      const answer = await callVendor(fetch, {
        url: urlBelow(config.baseUrl, '/v2/send'),
        body: {
          number: config.account,
          recipients: recipientsOf(target as SignalTarget),
          message: text,
          text_mode: 'normal',
        },
        signal,
      })
      const { timestamp } = recordOf(answer.json) ?? {}
      // Written as a text, though it is a number.
      const at = typeof timestamp === 'number' ? timestamp : Number(textOf(timestamp) || Number.NaN)
      if (answer.status !== 201 || !Number.isSafeInteger(at)) throw failureOf(answer, now())
      return { id: String(at), ...timeOf(at) }
    },

    async look(signal) {
      const answer = await callVendor(fetch, { url: urlBelow(config.baseUrl, '/v1/health'), signal })
      if (answer.status !== 204) throw failureOf(answer, now(), false)
      return `signal-cli-rest-api answers; it sends as ${config.account}.`
    },
  }
}

/** Of a group's id this API makes another one: `group.` and the id once more in base64. */
function recipientsOf({ address }: SignalTarget): readonly string[] {
  const groups = (address.groupId ?? []).map((id) => `group.${Buffer.from(id).toString('base64')}`)
  return [...(address.recipient ?? []), ...(address.username ?? []), ...groups]
}
