/** Owns what is configured of a program that speaks Signal, and which ones are refused. */

import { channelError, checkDefaultTo } from '@reveille/kit'
import { parseTarget } from './target.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface SignalConfig {
  readonly account?: string
  readonly defaultTo?: string
  readonly baseUrl: string
  readonly api: 'json-rpc' | 'rest'
  readonly allowRemote: boolean
}

/** @throws PluginError naming the key */
export function checkConfiguration({ baseUrl, api, account, allowRemote, defaultTo }: SignalConfig): void {
  const url = URL.parse(baseUrl)
  if (url === null)
    throw channelError('bad-request', '`baseUrl` is no URL: write it as http://127.0.0.1:8080.')
  if (!allowRemote && !isLoopback(url.hostname)) {
    throw channelError(
      'forbidden',
      '`baseUrl` is another machine, and the daemon has no password: let it listen on 127.0.0.1, or set `allowRemote: true` if nobody else can reach it.',
    )
  }
  if (api === 'rest' && account === undefined) {
    throw channelError(
      'bad-request',
      '`api: rest` needs `account`: that API asks with each message who sends it.',
    )
  }
  checkDefaultTo(defaultTo, parseTarget)
}

/** As `URL` writes a host: addresses are normalised, so that 127.1 is here 127.0.0.1. */
function isLoopback(host: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(host)
}
