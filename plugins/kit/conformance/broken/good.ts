/** A runner and a channel that keep every promise, which the broken ones modify. */

import type { Channel } from '../../channel.ts'
import { splitMarkdown } from '../../markdown/index.ts'
import { PluginError, permanentError } from '../../plugin-error.ts'
import type { Runner } from '../../runner.ts'
import type { ChannelFixture } from '../channel.ts'
import type { RunnerFixture } from '../runner.ts'

export const secret = 'hunter2-hunter2'

/** A service behind a plugin: it answers, stalls or fails as the suite asks. */
function createService() {
  let mood: 'well' | 'stalled' | 'failing' | 'refusing' | 'picky' = 'well'
  const begun = Promise.withResolvers<void>()
  return {
    stallMidway() {
      mood = 'stalled'
      return begun.promise
    },
    stall() {
      mood = 'stalled'
    },
    fail() {
      mood = 'failing'
    },
    /** Refuses everybody's key. */
    expire() {
      mood = 'refusing'
    },
    /** Refuses this turn. */
    object() {
      mood = 'picky'
    },
    async call(signal: AbortSignal) {
      if (signal.aborted) throw aborted()
      if (mood === 'failing') throw new PluginError('It failed.', { code: 'unavailable', retryable: true })
      if (mood === 'refusing') throw permanentError('expired', 'The key has expired.', { wholeService: true })
      if (mood === 'picky') throw permanentError('too-long', 'The prompt is too long.')
      if (mood === 'stalled') {
        begun.resolve()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(aborted())))
      }
    },
  }
}

export function aborted(): PluginError {
  return new PluginError('It was called off.', { code: 'aborted', retryable: true })
}

export function createGoodRunner(): RunnerFixture {
  const { call, stall, stallMidway, fail, expire, object } = createService()
  const runner: Runner = {
    id: 'good',
    checkModel: (model) => (model.includes('/') ? 'It takes no models of vendors.' : undefined),
    async run({ prompt, sessionKey, state = `state of ${sessionKey}`, thinking }, { signal, onProgress }) {
      await call(signal)
      onProgress?.({ text: prompt })
      const warnings = thinking === undefined ? [] : ['It does not think.']
      return { reply: prompt, usage: undefined, state, warnings }
    },
  }
  const outages = { 'expired key': expire, 'service down': fail }
  const ownFailures = { 'prompt too long': object }
  return { runner, stall, stallMidway, fail, outages, ownFailures, remembers: true }
}

/** Creates a runner that hands its turns over. */
export function createGoodRelay(): RunnerFixture {
  const { call, stall, fail } = createService()
  const handed: string[] = []
  const runner: Runner = {
    id: 'good',
    keepsHistory: true,
    async run({ prompt, runId }, { signal }) {
      await call(signal)
      handed.push(prompt)
      return { reply: '', handedOver: `number ${runId}` }
    },
  }
  return { runner, stall, fail, handed: () => handed }
}

export function createGoodChannel(): ChannelFixture {
  const { call, stall, fail } = createService()
  const limits = { part: 120, unit: 'utf16' } as const
  const sent = new Map<string, string>()
  const channel: Channel = {
    id: 'good',
    limits,
    idempotency: { windowMs: 60_000 },
    target(to) {
      if (/^#\w+$/.test(to)) return { key: to.toLowerCase(), kind: 'channel' }
      throw new PluginError('Not an address.', { code: 'bad-target', retryable: false })
    },
    render: (markdown) => splitMarkdown(markdown, limits).map((text) => ({ text })),
    async send({ text }, { key, signal }) {
      await call(signal)
      if (!sent.has(key)) sent.set(key, text)
      return { id: key, at: '2026-01-01T00:00:00Z' }
    },
  }
  return { channel, messages: () => [...sent.values()], stall, fail }
}
