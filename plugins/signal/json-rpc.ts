/**
 * Sends through `signal-cli daemon --http`, which takes styles as ranges and reports the outcome for each recipient.
 *
 * Source: signal-cli, man page `signal-cli-jsonrpc`.
 */

import {
  asList,
  asNumber,
  asRecord,
  asString,
  callVendor,
  channelError,
  joinUrl,
  oneLine,
  type PluginError,
  type Receipt,
  timeOf,
} from '@reveille/kit'
import type { Daemon, DaemonOptions } from './daemon.ts'
import {
  errorFrom,
  notTheDaemon,
  type RpcAnswer,
  reasonOf,
  type SendResponse,
  type SendResult,
  unreached,
} from './errors.ts'
import type { SignalTarget } from './target.ts'

/** Maximum length of a recipient's name in a receipt, in UTF-16 units. */
const maxNameLength = 100

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
      if (timestamp === undefined) throw errorFrom(answer, now())
      const failed = results.filter(({ type }) => type !== 'SUCCESS')
      if (failed.length > 0 && failed.length === results.length) throw unreached(failed)
      return {
        id: String(timestamp),
        ...timeOf(timestamp),
        ...(failed.length > 0 && { partial: failed.map(missed) }),
      }
    },

    async check(signal) {
      const answer = await callVendor(fetch, { url: joinUrl(config.baseUrl, '/api/v1/check'), signal })
      if (answer.status !== 200) throw notTheDaemon(answer, now(), false)
      return senderOf(await accounts(signal))
    },
  }

  /** Returns the accounts, or undefined if the daemon serves a single account and so has no list. */
  async function accounts(signal: AbortSignal): Promise<string[] | undefined> {
    const { result } = await callRpc(options, { id: 'check', method: 'listAccounts' }, signal)
    if (!Array.isArray(result)) return undefined
    return result.flatMap((each) => asString(asRecord(each)?.['number']) ?? [])
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
  return { target: oneLine(result.recipient, maxNameLength), reason: reasonOf(result) }
}

/** Makes a call and returns whatever the daemon answers. @throws PluginError if it does not answer */
async function callRpc(
  { config, fetch }: DaemonOptions,
  request: { readonly id: string; readonly method: string; readonly params?: object },
  signal: AbortSignal,
): Promise<RpcAnswer> {
  const http = await callVendor(fetch, {
    url: joinUrl(config.baseUrl, '/api/v1/rpc'),
    // The daemon answers 415 to every other type, and so to one with a character set.
    headers: { 'content-type': 'application/json' },
    body: { jsonrpc: '2.0', ...request },
    signal,
  })
  const { result, error } = asRecord(http.json) ?? {}
  const { code, message, data } = asRecord(error) ?? {}
  if (typeof code !== 'number') return { http, result }
  const { response } = asRecord(data) ?? {}
  return { http, error: { code, message: asString(message) ?? '', response: responseOf(response) } }
}

/** Reads what `send` answers, as its result or inside an error. */
function responseOf(value: unknown): SendResponse {
  const { timestamp, results } = asRecord(value) ?? {}
  return { timestamp: asNumber(timestamp), results: asList(results).map(resultOf) }
}

function resultOf(value: unknown): SendResult {
  const { type, recipientAddress, token, retryAfterSeconds } = asRecord(value) ?? {}
  const { number, uuid, username } = asRecord(recipientAddress) ?? {}
  return {
    type: asString(type) ?? 'no result',
    recipient: asString(number) ?? asString(username) ?? asString(uuid) ?? 'unknown',
    token: asString(token),
    retryAfterSeconds: Number(asNumber(retryAfterSeconds)) >= 0 ? asNumber(retryAfterSeconds) : undefined,
  }
}
