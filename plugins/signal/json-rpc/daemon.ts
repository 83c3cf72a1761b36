/** Owns sending through `signal-cli daemon --http`, which takes styles as ranges and says of each recipient what came of it. */

import { type ChannelHealth, callVendor, type Receipt } from '@reveille/kit'
import { urlOf } from '../configuration.ts'
import type { Daemon, DaemonOptions } from '../daemon.ts'
import type { SignalTarget } from '../target.ts'
import { failureOf, reasonOf, unreached } from './failure.ts'
import { callRpc, type SendResponse, type SendResult } from './rpc.ts'

export function createJsonRpcDaemon(options: DaemonOptions): Daemon {
  const { config, fetch } = options
  const { account } = config

  return {
    async send({ text, styles }, { target, key, signal }): Promise<Receipt> {
      const params = {
        ...(account !== undefined && { account }),
        ...(target as SignalTarget).address,
        message: text,
        ...(styles.length > 0 && { textStyle: styles }),
      }
      const answer = await callRpc(options, { id: key, method: 'send', params }, signal)
      const { timestamp, results = [] } = (answer.result ?? {}) as SendResponse
      if (typeof timestamp !== 'number') throw failureOf(answer)
      const failed = results.filter(({ type }) => type !== 'SUCCESS')
      if (failed.length > 0 && failed.length === results.length) throw unreached(failed)
      return {
        id: String(timestamp),
        at: new Date(timestamp).toISOString(),
        ...(failed.length > 0 && { partial: failed.map(missed) }),
      }
    },

    async check(signal) {
      const { status } = await callVendor(fetch, { url: urlOf(config, '/api/v1/check'), signal })
      if (status === 200) return healthOf(await accounts(signal))
      return {
        ok: false,
        detail: `What answers at \`baseUrl\` (${status}) is no signal-cli daemon with --http.`,
      }
    },
  }

  /** Undefined where the daemon serves one account only, and so has no list of them. */
  async function accounts(signal: AbortSignal): Promise<string[] | undefined> {
    const { result } = await callRpc(options, { id: 'check', method: 'listAccounts' }, signal)
    if (!Array.isArray(result)) return undefined
    return result.flatMap(({ number }) => (typeof number === 'string' ? [number] : []))
  }

  function healthOf(numbers: readonly string[] | undefined): ChannelHealth {
    if (numbers === undefined) {
      return { ok: true, detail: 'signal-cli answers, for the one account that it serves.' }
    }
    if (account === undefined && numbers.length > 1) {
      return {
        ok: false,
        detail: 'signal-cli serves several accounts: say which one sends with `account`.',
      }
    }
    const used = account ?? numbers[0]
    if (used !== undefined && numbers.includes(used)) {
      return { ok: true, detail: `signal-cli sends as ${used}.` }
    }
    const reason =
      account === undefined ? 'has no account: register or link one' : `does not serve ${account}`
    return { ok: false, detail: `signal-cli ${reason}.` }
  }
}

function missed(result: SendResult): { target: string; reason: string } {
  const { number, uuid, username } = result.recipientAddress ?? {}
  return { target: number ?? username ?? uuid ?? 'unknown', reason: reasonOf(result) }
}
