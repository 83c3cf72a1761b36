/** Reports to the observers among the plugins what has happened. Without one, nothing is made for them. */

import type { ObservedTurn, ObservedWork, Observer } from '@reveille/kit'
import type { DispatchObserver } from '../dispatch/index.ts'
import { type HookSurfaceOptions, observedRequest } from '../http/index.ts'
import type { PluginHost } from '../plugin/index.ts'
import type { RunRecord } from '../store/port.ts'
import { causeOf, contextOf } from '../trace-context.ts'

export function createObserving(plugins: Pick<PluginHost, 'observers' | 'onCommitted'>, now: () => number) {
  let observers: readonly Observer[] = plugins.observers()
  plugins.onCommitted(() => {
    observers = plugins.observers()
  })

  function report(work: ObservedWork): void {
    for (const observer of observers) {
      try {
        observer.observe(work)
      } catch {
        // An observer's error concerns no request.
      }
    }
  }
  const isOn = () => observers.length > 0

  const dispatch: DispatchObserver = {
    runEnded(run, result) {
      const code = 'error' in result ? result.error.code : undefined
      if (isOn()) report(turnOf(run, result.state, code, now()))
    },
    heartbeatEnded(heartbeat, failure, shown) {
      if (!isOn()) return
      const state = failure === undefined ? 'succeeded' : 'failed'
      const links = shown
        .flatMap(({ origin }) => causeOf(origin) ?? [])
        .filter((cause) => cause !== heartbeat.traceparent)
      report({ ...turnOf(heartbeat, state, failure?.code, now()), links })
    },
    deliveryEnded(delivery, state, why, run) {
      const { id, channel, attempts, receipts, createdAt } = delivery
      if (!isOn()) return
      report({
        kind: 'delivery',
        ...traced(id, run && contextOf(run.id, causeOf(run))),
        channel,
        state,
        ...(why && { code: why.code }),
        attempts: attempts + (state === 'delivered' ? 1 : 0),
        parts: receipts.length,
        startedAt: createdAt,
        endedAt: now(),
      })
    },
  }
  const request: NonNullable<HookSurfaceOptions['onConcluded']> = (facts, result, ms) => {
    if (isOn()) report(observedRequest(facts, result, ms))
  }
  return { request, dispatch }
}

function turnOf(
  run: RunRecord,
  state: ObservedTurn['state'],
  code: string | undefined,
  endedAt: number,
): ObservedTurn {
  const { kind, runner, mapping, usage, attempts, startedAt = run.createdAt } = run
  return {
    kind,
    ...traced(run.id, causeOf(run)),
    runner,
    ...(mapping && { mapping }),
    state,
    ...(code && { code }),
    attempts: attempts.length,
    ...(usage && { usage }),
    links: [],
    startedAt,
    endedAt,
  }
}

function traced(id: string, parent: string | undefined) {
  return { id, traceparent: contextOf(id, parent), ...(parent && { parent }) }
}
