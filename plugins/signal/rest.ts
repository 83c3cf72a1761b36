/** Sends through signal-cli-rest-api (bbernhard), which wraps signal-cli. */

import { asRecord, asString, callVendor, joinUrl, timeOf } from '@reveille/kit'
import type { Daemon, DaemonOptions } from './daemon.ts'
import { restErrorFrom } from './errors.ts'
import type { SignalTarget } from './target.ts'

/**
 * Creates a daemon that sends text without styles. The mode `styled` of this API drops every `*`, `|`, `~` and backtick as
 * a mark, wherever it is (its `textstyleparser.go`), so that an agent's text would lose characters.
 */
export function createRestDaemon({ config, fetch, now }: DaemonOptions): Daemon {
  return {
    async send({ text }, { target, signal }) {
      const answer = await callVendor(fetch, {
        url: joinUrl(config.baseUrl, '/v2/send'),
        body: {
          number: config.account,
          recipients: recipientsOf(target as SignalTarget),
          message: text,
          text_mode: 'normal',
        },
        signal,
      })
      const { timestamp } = asRecord(answer.json) ?? {}
      // The timestamp is a number written as a string.
      const at = typeof timestamp === 'number' ? timestamp : Number(asString(timestamp) || Number.NaN)
      if (answer.status !== 201 || !Number.isSafeInteger(at)) throw restErrorFrom(answer, now())
      return { id: String(at), ...timeOf(at) }
    },

    async check(signal) {
      const answer = await callVendor(fetch, { url: joinUrl(config.baseUrl, '/v1/health'), signal })
      if (answer.status !== 204) throw restErrorFrom(answer, now(), false)
      return `signal-cli-rest-api answers; it sends as ${config.account}.`
    },
  }
}

/** Returns the recipients. This API names a group by `group.` and its id, encoded in base64 again. */
function recipientsOf({ address }: SignalTarget): readonly string[] {
  const groups = (address.groupId ?? []).map((id) => `group.${Buffer.from(id).toString('base64')}`)
  return [...(address.recipient ?? []), ...(address.username ?? []), ...groups]
}
