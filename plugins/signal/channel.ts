/** Owns sending: one part becomes one message of an account, which signal-cli sends to each recipient by itself. */

import {
  type Channel,
  type ChannelHealth,
  callVendor,
  isPluginError,
  type Receipt,
  type SendCall,
} from '@reveille/kit'
import { checkConfiguration, type SignalConfig, urlOf } from './configuration.ts'
import { failureOf, reasonOf, unreached } from './failure.ts'
import type { StyledPart } from './marks.ts'
import { longestPart, render } from './render.ts'
import { callRpc, type SendResponse, type SendResult } from './rpc.ts'
import { parseTarget, type SignalTarget } from './target.ts'

export interface SignalOptions {
  readonly config: SignalConfig
  readonly fetch: typeof globalThis.fetch
}

/** Each member of a group is written to by itself. */
const sendTimeoutMs = 60_000

/** @throws PluginError where the configuration cannot work */
export function createSignalChannel({ config, fetch }: SignalOptions): Channel {
  checkConfiguration(config)
  const { account, defaultTo } = config
  const daemon = { config, fetch }

  return {
    id: 'signal',
    limits: { part: longestPart, unit: 'utf8', sendTimeoutMs },
    ...(defaultTo !== undefined && { defaultTo }),
    target: parseTarget,
    render,
    send,
    check,
  }

  async function send(
    { text, styles = [] }: Partial<StyledPart> & { text: string },
    { target, key, signal }: SendCall,
  ): Promise<Receipt> {
    const params = {
      ...(account !== undefined && { account }),
      ...(target as SignalTarget).address,
      message: text,
      ...(styles.length > 0 && { textStyle: styles }),
    }
    const answer = await callRpc(daemon, { id: key, method: 'send', params }, signal)
    const { timestamp, results = [] } = (answer.result ?? {}) as SendResponse
    if (typeof timestamp !== 'number') throw failureOf(answer)
    const failed = results.filter(({ type }) => type !== 'SUCCESS')
    if (failed.length > 0 && failed.length === results.length) throw unreached(failed)
    return {
      id: String(timestamp),
      at: new Date(timestamp).toISOString(),
      ...(failed.length > 0 && { partial: failed.map(missed) }),
    }
  }

  async function check(signal: AbortSignal): Promise<ChannelHealth> {
    try {
      const { status } = await callVendor(fetch, { url: urlOf(config, '/api/v1/check'), signal })
      if (status !== 200) {
        return {
          ok: false,
          detail: `What answers at \`baseUrl\` (${status}) is no signal-cli daemon with --http.`,
        }
      }
      return healthOf(await accounts(signal))
    } catch (error) {
      if (!isPluginError(error)) throw error
      return { ok: false, detail: error.message }
    }
  }

  /** Undefined where the daemon serves one account only, and so has no list of them. */
  async function accounts(signal: AbortSignal): Promise<string[] | undefined> {
    const { result } = await callRpc(daemon, { id: 'check', method: 'listAccounts' }, signal)
    if (!Array.isArray(result)) return undefined
    return result.flatMap(({ number }) => (typeof number === 'string' ? [number] : []))
  }

  function healthOf(numbers: readonly string[] | undefined): ChannelHealth {
    if (numbers === undefined)
      return { ok: true, detail: 'signal-cli answers, for the one account that it serves.' }
    if (account === undefined && numbers.length > 1) {
      return { ok: false, detail: 'signal-cli serves several accounts: say which one sends with `account`.' }
    }
    const used = account ?? numbers[0]
    if (used !== undefined && numbers.includes(used))
      return { ok: true, detail: `signal-cli sends as ${used}.` }
    const reason =
      account === undefined ? 'has no account: register or link one' : `does not serve ${account}`
    return { ok: false, detail: `signal-cli ${reason}.` }
  }
}

function missed(result: SendResult): { target: string; reason: string } {
  const { number, uuid, username } = result.recipientAddress ?? {}
  return { target: number ?? username ?? uuid ?? 'unknown', reason: reasonOf(result) }
}
