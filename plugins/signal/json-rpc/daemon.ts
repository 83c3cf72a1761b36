/** Owns sending through `signal-cli daemon --http`, which takes styles as ranges and says of each recipient what came of it. */

import {
  callVendor,
  channelError,
  oneLine,
  type PluginError,
  type Receipt,
  recordOf,
  textOf,
  timeOf,
  urlBelow,
} from '@reveille/kit'
import type { Daemon, DaemonOptions } from '../daemon.ts'
import type { SignalTarget } from '../target.ts'
import { failureOf, notTheDaemon, reasonOf, unreached } from './failure.ts'
import { callRpc, responseOf, type SendResult } from './rpc.ts'

/** Of a recipient in a receipt. Characters. */
const longestName = 100

export function createJsonRpcDaemon(options: DaemonOptions): Daemon {
  const { config, fetch, now } = options
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
      const { timestamp, results } = responseOf(answer.result)
      if (timestamp === undefined) throw failureOf(answer, now())
      const failed = results.filter(({ type }) => type !== 'SUCCESS')
      if (failed.length > 0 && failed.length === results.length) throw unreached(failed)
      return {
        id: String(timestamp),
        ...timeOf(timestamp),
        ...(failed.length > 0 && { partial: failed.map(missed) }),
      }
    },

    async look(signal) {
      const answer = await callVendor(fetch, { url: urlBelow(config.baseUrl, '/api/v1/check'), signal })
      if (answer.status !== 200) throw notTheDaemon(answer, now(), false)
      return senderOf(await accounts(signal))
    },
  }

  /** Undefined where the daemon serves one account only, and so has no list of them. */
  async function accounts(signal: AbortSignal): Promise<string[] | undefined> {
    const { result } = await callRpc(options, { id: 'check', method: 'listAccounts' }, signal)
    if (!Array.isArray(result)) return undefined
    return result.flatMap((each) => textOf(recordOf(each)?.['number']) ?? [])
  }

  function senderOf(numbers: readonly string[] | undefined): string {
    if (numbers === undefined) return 'signal-cli answers, for the one account that it serves.'
    const used = account ?? numbers[0]
    if (account === undefined && numbers.length > 1) {
      throw badAccount('signal-cli serves several accounts: say which one sends with `account`.')
    }
    if (used === undefined) throw badAccount('signal-cli has no account: register or link one.')
    if (!numbers.includes(used)) throw badAccount(`signal-cli does not serve ${used}.`)
    return `signal-cli sends as ${used}.`
  }
}

function badAccount(sentence: string): PluginError {
  return channelError('bad-credential', sentence)
}

function missed(result: SendResult): { target: string; reason: string } {
  return { target: oneLine(result.recipient, longestName), reason: reasonOf(result) }
}
