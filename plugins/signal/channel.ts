/** Sends replies to Signal through signal-cli, or through a REST wrapper of it. */

import { type Channel, channelError, checkDefaultTo, healthOf, type Part } from '@reveille/kit'
import type { DaemonOptions, SignalConfig } from './daemon.ts'
import { createJsonRpcDaemon } from './json-rpc.ts'
import { limits, renderReply, type StyledPart } from './render.ts'
import { createRestDaemon } from './rest.ts'
import { parseTarget } from './target.ts'

/** Time limit of a send, in milliseconds. Each member of a group is written to separately. */
const sendTimeoutMs = 60_000

/** @throws PluginError if `checkConfiguration` refuses the configuration */
export function createSignalChannel(options: DaemonOptions): Channel {
  checkConfiguration(options.config)
  const { api, defaultTo } = options.config
  const daemon = api === 'rest' ? createRestDaemon(options) : createJsonRpcDaemon(options)

  return {
    id: 'signal',
    limits: { ...limits, sendTimeoutMs },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    send: (part: Part & Partial<StyledPart>, call) => daemon.send({ styles: [], ...part }, call),
    check: (signal) => healthOf(() => daemon.check(signal)),
  }
}

/** Checks what the schema cannot. @throws PluginError that names the key */
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

/** True if a host is this machine. `URL` has normalised it, so that 127.1 is written 127.0.0.1. */
function isLoopback(host: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(host)
}
