/** Makes the record of a heartbeat, and selects the pending events that it shows. */

import type { Settings } from '@reveille/engine'
import { heartbeatPrompt } from '../../agent/heartbeat-prompt.ts'
import { mainSession } from '../../session/main.ts'
import type { EventRecord, Id, Reader, Work } from '../../store/port.ts'
import type { StartedRun } from '../ask.ts'

export interface Heartbeat {
  readonly run: StartedRun
  readonly shown: readonly EventRecord[]
}

export interface HeartbeatFacts {
  readonly id: Id
  readonly at: number
  readonly generation: number
  readonly settings: Settings['agents']['defaults']
  /** True if the runner passes events on. Then it gets all of them, and returns nothing to deliver. */
  readonly relays: boolean
}

export function beginHeartbeat(work: Work, facts: HeartbeatFacts): Heartbeat {
  const { at, relays, settings } = facts
  const { heartbeat: rules, runner, model, thinking, timeoutSeconds } = settings
  const instruction = rules.prompt
  const limit = relays ? Number.POSITIVE_INFINITY : undefined
  const pending = work.pending.all
  const { text, shown } = heartbeatPrompt({ events: work.events, pending, instruction, limit })
  const traceparent = shown.map(({ origin }) => origin.traceparent).find((each) => each !== undefined)
  const run = {
    id: facts.id,
    kind: 'heartbeat',
    ...(traceparent && { traceparent }),
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

/** Appends to the event of each issue that is resolved by now that it is. An event may wait for hours. */
export async function withEndOfIssues(
  events: readonly EventRecord[],
  read: Pick<Reader, 'issue'>,
): Promise<readonly EventRecord[]> {
  return Promise.all(
    events.map(async (event) => {
      const { text, prompt, origin } = event
      const issue = origin.issue === undefined ? undefined : await read.issue(origin.issue)
      if (issue?.state !== 'resolved') return event
      const end = ' This has been resolved since.'
      return { ...event, text: `${text}${end}`, prompt: `${prompt}${end}` }
    }),
  )
}
