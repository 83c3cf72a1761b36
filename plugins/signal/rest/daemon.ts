/** Owns sending through signal-cli-rest-api (bbernhard), which wraps signal-cli. */

import { callVendor } from '@reveille/kit'
import { urlOf } from '../configuration.ts'
import type { Daemon, DaemonOptions } from '../daemon.ts'
import type { SignalTarget } from '../target.ts'
import { failureOf } from './failure.ts'

/**
 * Text goes without styles. The mode `styled` of this API takes every `*`, `|`, `~` and backtick for a mark, wherever it is,
 * and drops it (its `textstyleparser.go`); text of an agent would lose letters.
 */
export function createRestDaemon({ config, fetch }: DaemonOptions): Daemon {
  return {
    async send({ text }, { target, signal }) {
      const answer = await callVendor(fetch, {
        url: urlOf(config, '/v2/send'),
        body: {
          number: config.account,
          recipients: recipientsOf(target as SignalTarget),
          message: text,
          text_mode: 'normal',
        },
        signal,
      })
      const { timestamp } = (answer.json ?? {}) as { timestamp?: string | number }
      const at = Number(timestamp)
      if (answer.status !== 201 || !Number.isSafeInteger(at)) throw failureOf(answer)
      return { id: String(timestamp), at: new Date(at).toISOString() }
    },

    async check(signal) {
      const { status } = await callVendor(fetch, { url: urlOf(config, '/v1/health'), signal })
      return status === 204
        ? { ok: true, detail: `signal-cli-rest-api answers; it sends as ${config.account}.` }
        : { ok: false, detail: `What answers at \`baseUrl\` (${status}) is no signal-cli-rest-api.` }
    },
  }
}

/** Of a group's id this API makes another one: `group.` and the id once more in base64. */
function recipientsOf({ address }: SignalTarget): readonly string[] {
  const groups = (address.groupId ?? []).map((id) => `group.${Buffer.from(id).toString('base64')}`)
  return [...(address.recipient ?? []), ...(address.username ?? []), ...groups]
}
