/** Owns what is configured of a program that speaks Signal, and which ones are refused. */

import { isPluginError, PluginError } from '@reveille/kit'
import { parseTarget } from './target.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface SignalConfig {
  readonly account?: string
  readonly defaultTo?: string
  readonly baseUrl: string
  readonly api: 'json-rpc' | 'rest'
  readonly allowRemote: boolean
}

/** `path` begins with a slash. */
export function urlOf({ baseUrl }: SignalConfig, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`
}

/** @throws PluginError naming the key */
export function checkConfiguration({ baseUrl, api, account, allowRemote, defaultTo }: SignalConfig): void {
  const url = URL.parse(baseUrl)
  if (url === null) throw refusal('`baseUrl` is no URL: write it as http://127.0.0.1:8080.', 'bad-request')
  if (!allowRemote && !isLoopback(url.hostname)) {
    throw refusal(
      '`baseUrl` is another machine, and the daemon has no password: let it listen on 127.0.0.1, or set `allowRemote: true` if nobody else can reach it.',
      'forbidden',
    )
  }
  if (api === 'rest' && account === undefined) {
    throw refusal('`api: rest` needs `account`: that API asks with each message who sends it.', 'bad-request')
  }
  if (defaultTo === undefined) return
  try {
    parseTarget(defaultTo)
  } catch (error) {
    if (!isPluginError(error)) throw error
    throw refusal(`\`defaultTo\` is no address. ${error.message}`, error.code)
  }
}

/** As `URL` writes a host: addresses are normalised, so that 127.1 is here 127.0.0.1. */
function isLoopback(host: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(host)
}

function refusal(message: string, code: string): PluginError {
  return new PluginError(message, { code, retryable: false })
}
