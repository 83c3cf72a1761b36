/** Owns the channel: its limits, and which program sends. */

import { type Channel, healthOf, type Part } from '@reveille/kit'
import { checkConfiguration } from './configuration.ts'
import type { DaemonOptions } from './daemon.ts'
import { createJsonRpcDaemon } from './json-rpc/daemon.ts'
import type { StyledPart } from './marks.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import { createRestDaemon } from './rest/daemon.ts'
import { parseTarget } from './target.ts'

/** Each member of a group is written to by itself. Milliseconds. */
const sendTimeoutMs = 60_000

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createSignalChannel(options: DaemonOptions): Channel {
  checkConfiguration(options.config)
  const { api, defaultTo } = options.config
  const daemon = api === 'rest' ? createRestDaemon(options) : createJsonRpcDaemon(options)

  return {
    id: 'signal',
    limits: { part: partLimit, unit: 'utf8', parts: mostParts, sendTimeoutMs },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    send: (part: Part & Partial<StyledPart>, call) => daemon.send({ styles: [], ...part }, call),
    check: (signal) => healthOf(() => daemon.look(signal)),
  }
}
