/** Creates what the tests of the host need: a host that logs into a list, and minimal settings. */

import assert from 'node:assert/strict'
import type { Settings } from '@reveille/engine'
import type { Turn, TurnCall } from '@reveille/kit'
import { pino } from 'pino'
import { createPluginHost, type PluginHostOptions, PluginSetupError } from './index.ts'

/** `lines`: all that is logged, as it comes. */
export function createHost(options: Partial<PluginHostOptions> = {}) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug', base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  return { host: createPluginHost({ log, ...options }), lines }
}

/** A snapshot that configures just that. */
export function settings(changes: {
  channels?: Settings['channels']
  sources?: Settings['sources']
  runners?: Settings['agents']['runners']
  runner?: string
  model?: string
  models?: readonly string[]
  providers?: Settings['agents']['providers']
  plugins?: readonly string[]
}) {
  const {
    channels = {},
    sources = {},
    runners = {},
    runner = 'echo',
    plugins = [],
    model,
    models,
    providers = {},
  } = changes
  const heartbeat = { everyMs: 1, idle: false, ackToken: '', prompt: '' }
  const retry = { attempts: 1, firstMs: 1, maxMs: 1 }
  const defaults = {
    runner,
    timeoutSeconds: 1,
    heartbeat,
    concurrency: 1,
    retry,
    ...(model !== undefined && { model }),
    ...(models && { models: { allowed: models, aliases: {} } }),
  }
  const sessions = { maxCharacters: 1, maxMessages: 1, compaction: 'drop', idleMs: 1 } as const
  return {
    settings: {
      agents: { defaults, runners, sessions, prices: {}, providers },
      channels,
      sources,
      observers: {},
      plugins,
    },
  }
}

export const turn: Turn = {
  runId: 'run',
  sessionKey: 'hook:1',
  kind: 'run',
  prompt: 'hello',
  events: [],
  history: [],
  attempt: 1,
}
export const call: TurnCall = { signal: new AbortController().signal }

/** Passes the error that has this code and says all of these. */
export function refusal(code: string, ...texts: (string | RegExp)[]) {
  return (error: unknown) => {
    assert.ok(error instanceof PluginSetupError, String(error))
    assert.equal(error.code, code)
    for (const text of texts) assert.match(error.message, new RegExp(text))
    return true
  }
}
