/** Owns what a heartbeat is on record, and what a runner is told of it. */

import type { Settings } from '@reveille/engine'
import type { Message, Turn } from '@reveille/kit'
import { heartbeatPrompt } from '../../agent/heartbeat-prompt.ts'
import { mainSession } from '../../session/main.ts'
import type { EventRecord, Id, RunRecord, Work } from '../../store/port.ts'

export interface Heartbeat {
  readonly run: RunRecord & { readonly startedAt: number }
  readonly shown: readonly EventRecord[]
}

export interface HeartbeatFacts {
  readonly id: Id
  readonly at: number
  readonly generation: number
  readonly settings: Settings['agents']['defaults']
  /** Whether the runner passes the events on: it is given all that there are, and nothing comes back to be delivered. */
  readonly relays: boolean
}

export function beginHeartbeat(work: Work, facts: HeartbeatFacts): Heartbeat {
  const { at, relays, settings } = facts
  const { heartbeat: rules, runner, model, thinking, timeoutSeconds } = settings
  const instruction = rules.prompt
  const limit = relays ? Number.POSITIVE_INFINITY : undefined
  const pending = work.pending.all
  const { text, shown } = heartbeatPrompt({ events: work.events, pending, instruction, limit })
  const run = {
    id: facts.id,
    kind: 'heartbeat',
    generation: facts.generation,
    sessionKey: mainSession,
    state: 'running',
    stage: 'running',
    runner,
    model,
    thinking,
    timeoutSeconds,
    wakeMode: work.pending.now > 0 ? 'now' : 'next-heartbeat',
    deliver: !relays,
    channel: 'last',
    message: instruction,
    prompt: text,
    attempts: [{ number: 1, startedAt: at }],
    createdAt: at,
    startedAt: at,
    deliveryIds: [],
    eventIds: shown.map((event) => event.id),
  } as const
  return { run, shown }
}

export function heartbeatTurn(
  { run, shown }: Heartbeat,
  work: Work,
  facts: { readonly leftMs: number; readonly systemPrompt?: string; readonly history: readonly Message[] },
): Turn {
  return {
    runId: run.id,
    sessionKey: run.sessionKey,
    kind: 'heartbeat',
    prompt: run.prompt,
    events: shown.map(({ id, text, prompt, mode, createdAt }) => ({ id, text, prompt, mode, at: createdAt })),
    history: facts.history,
    model: run.model,
    thinking: run.thinking,
    systemPrompt: facts.systemPrompt,
    attempt: 1,
    state: work.runnerState?.[run.runner],
    timeoutSeconds: Math.ceil(facts.leftMs / 1000),
  }
}
