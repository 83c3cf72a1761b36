/** Compares what a candidate and the live snapshot decide about past requests. No action is performed. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Action, Decision } from '../resolve/model/decision.ts'
import type { DryRun } from '../transform/port.ts'
import { yieldIfDue } from '../yield.ts'
import { type ReceivedRequest, type TrySurface, tryRequest } from './try-request.ts'

/** A past request, as it came in. */
export interface PastRequest extends ReceivedRequest {
  readonly id: string
}

export interface Shadow {
  /** Number of requests compared: fewer than were given where the run ended early. */
  readonly compared: number
  readonly same: number
  /** The differences with their counts, the most frequent first: `3 would now wake`. */
  readonly summary: readonly string[]
  /** In the order of the requests. */
  readonly differences: readonly ShadowDifference[]
  /** Number of requests that could not be compared, because a dry run stopped a transform. Absent: none. */
  readonly stopped?: number
  /** Where transforms were stopped, each once: `jira.ts at https://jira.example`. Absent: nowhere. */
  readonly stops?: readonly string[]
}

export interface ShadowDifference {
  readonly id: string
  readonly endpoint: string
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number
  /** `would now wake`. */
  readonly change: string
  readonly before: ShadowDecision
  readonly after: ShadowDecision
}

/** It holds no value of a payload. */
export interface ShadowDecision {
  readonly outcome: Decision['outcome']
  /** The code of a refused or failed request. */
  readonly code?: string
  /** The mappings that made its actions, or that skipped or refused the request. */
  readonly mappings: readonly string[]
  readonly actions: readonly Action['kind'][]
}

interface ShadowOptions {
  readonly requests: readonly PastRequest[]
  readonly live: Snapshot
  readonly candidate: Snapshot
  readonly surface: TrySurface
  /** Network access of transforms. */
  readonly dryRun: DryRun
  /** True once the run is to end early. Default: it is not. */
  isGivenUp?(): boolean
}

/** Maximum number of paths listed. */
const maxStops = 20

/** Decides one request after the other. The transforms of both sides are called, as a dry run. */
export async function runShadow({
  requests,
  live,
  candidate,
  surface,
  dryRun,
  isGivenUp = () => false,
}: ShadowOptions): Promise<Shadow> {
  const differences: ShadowDifference[] = []
  const stops = new Set<string>()
  let compared = 0
  let stopped = 0
  for (const request of requests) {
    await yieldIfDue()
    if (isGivenUp()) break
    compared++
    const [before, after] = [
      await tryRequest(request, live, surface, { dryRun }),
      await tryRequest(request, candidate, surface, { dryRun }),
    ]
    const kept = [...before.stops, ...after.stops]
    if (kept.length > 0) {
      // The transform was stopped, so its result on that side is unknown.
      stopped++
      for (const { module, target } of kept) if (stops.size < maxStops) stops.add(`${module} at ${target}`)
      continue
    }
    const change = describeChange(before.decision, after.decision)
    if (change === undefined) continue
    const { id, endpoint, now: receivedAt } = request
    const sides = { before: shorten(before.decision), after: shorten(after.decision) }
    differences.push({ id, endpoint, receivedAt, change, ...sides })
  }
  const same = compared - differences.length - stopped
  const stopping = stopped > 0 && { stopped, stops: [...stops] }
  return { compared, same, summary: summarise(differences), differences, ...stopping }
}

function summarise(differences: readonly ShadowDifference[]): string[] {
  const groups = Object.entries(Object.groupBy(differences, ({ change }) => change))
  return groups
    .map(([change, group = []]) => ({ change, count: group.length }))
    .sort((one, other) => other.count - one.count)
    .map(({ change, count }) => `${count} ${change}`)
}

/** Completes a sentence that begins with a number of requests; undefined where both decide alike. */
function describeChange(before: Decision, after: Decision): string | undefined {
  if (after.outcome !== 'accepted') {
    if (before.outcome === after.outcome && codeOf(before) === codeOf(after)) return undefined
    return changeTo[after.outcome](codeOf(after))
  }
  if (before.outcome !== 'accepted') return `would now ${verbsOf(after.actions)}`
  const [had, has] = [verbsOf(before.actions), verbsOf(after.actions)]
  if (had !== has) return `would ${has} instead of ${had}`
  if (mappingsOf(before).join() !== mappingsOf(after).join()) return 'would be taken by another mapping'
  const fields = differingFields(before.actions, after.actions)
  return fields.length === 0 ? undefined : `would differ in ${fields.join(', ')}`
}

const changeTo: Readonly<Record<Exclude<Decision['outcome'], 'accepted'>, (code?: string) => string>> = {
  ignored: () => 'would no longer match',
  skipped: () => 'would now be skipped',
  refused: (code) => `would now be refused (${code})`,
  failed: (code) => `would now fail (${code})`,
}

function codeOf(decision: Decision): string | undefined {
  return 'code' in decision ? decision.code : undefined
}

/** Returns `wake`, `run an agent`, or `run 2 agents and wake 3 times`. */
function verbsOf(actions: readonly Action[]): string {
  const wakes = actions.filter(({ kind }) => kind === 'wake').length
  const runs = actions.length - wakes
  const parts = [
    ...(runs === 0 ? [] : [runs === 1 ? 'run an agent' : `run ${runs} agents`]),
    ...(wakes === 0 ? [] : [wakes === 1 ? 'wake' : `wake ${wakes} times`]),
  ]
  return parts.join(' and ')
}

/** The prompt is not compared: it has random ids, and follows from the other fields. */
function differingFields(before: readonly Action[], after: readonly Action[]): string[] {
  const fields = new Set<string>()
  for (const [index, action] of after.entries()) {
    const comparedBefore = comparable(before[index])
    const other = comparable(action)
    for (const name of new Set([...Object.keys(comparedBefore), ...Object.keys(other)])) {
      if (JSON.stringify(comparedBefore[name]) !== JSON.stringify(other[name])) fields.add(name)
    }
  }
  return [...fields].sort()
}

function comparable(action: Action | undefined): Readonly<Record<string, unknown>> {
  if (action === undefined) return {}
  const { prompt: _prompt, mapping: _mapping, ...fields } = action
  if (fields.kind === 'agent' && !fields.sessionKeyGiven) return { ...fields, sessionKey: undefined }
  return fields
}

function mappingsOf(decision: Decision): string[] {
  if (decision.outcome === 'accepted') {
    return [...new Set(decision.actions.flatMap(({ mapping }) => mapping ?? []))]
  }
  return 'mapping' in decision && decision.mapping !== undefined ? [decision.mapping] : []
}

function shorten(decision: Decision): ShadowDecision {
  const code = codeOf(decision)
  return {
    outcome: decision.outcome,
    ...(code !== undefined && { code }),
    mappings: mappingsOf(decision),
    actions: decision.outcome === 'accepted' ? decision.actions.map(({ kind }) => kind) : [],
  }
}
