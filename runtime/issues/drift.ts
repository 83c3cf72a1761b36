/**
 * Finds payloads that have changed: a field that mappings read was in nearly all requests of an endpoint, and is in none of the
 * last ones. Requests are sampled, and looked at when the event loop is idle.
 */

import { compileFieldPresence, type FieldPresence, type HookRequest, type Snapshot } from '@reveille/engine'
import { BoundedMap } from '@reveille/kit'
import { configuredName, endpointOption } from '../configured-names.ts'
import { onceForEach } from '../once-for-each.ts'
import type { Ledger } from './ledger.ts'

const absentRun = 20
const window = 100
const minPresent = 95
const maxSamples = window + absentRun
const maxEndpoints = 200
/** Number of requests of one endpoint that are sampled at once, and per second after that. */
const burst = 200
const perSecond = 2
/** Maximum number of samples that wait; each holds a payload. */
const maxWaiting = 8

interface Sampled {
  tokens: number
  at: number
  /** By the path of each field. */
  readonly fields: Map<string, Field>
}

interface Field {
  /** The newest samples: true where the field was there. The newest one is the last. */
  readonly samples: boolean[]
  /** Number of newest samples in a row that lack the field. */
  absent: number
}

type Sample = readonly [request: HookRequest, snapshot: Snapshot, name: string]

export function createDriftWatch(ledger: Ledger) {
  /** By their configured names, so that those of a pattern are one. */
  const endpoints = new BoundedMap<string, Sampled>(maxEndpoints)
  const readersOf = onceForEach((_snapshot: Snapshot) => new Map<string, Promise<FieldPresence>>())
  /** The first one is being looked at. */
  const waiting: Sample[] = []

  async function lookAtAll(): Promise<void> {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      await lookAt(...next)
      waiting.shift()
    }
  }

  async function lookAt(...[{ payload }, snapshot, endpoint]: Sample): Promise<void> {
    const sampled = endpoints.get(endpoint)
    if (sampled === undefined || payload === undefined) return
    const presence = await readerOf(snapshot, endpoint)
    const found = presence.presentIn(payload)
    presence.fields.forEach(({ path, mapping }, index) => {
      const isThere = found[index]
      if (isThere === undefined) return
      const field = sampled.fields.get(path) ?? newField()
      sampled.fields.set(path, field)
      take(field, isThere)
      if (isThere) {
        ledger.resolve('DRIFT', `${endpoint}:${path}`)
      } else if (field.absent >= absentRun) judge(endpoint, path, mapping, field)
    })
  }

  function judge(endpoint: string, path: string, mapping: string, field: Field): void {
    const isOpen = ledger.isOpen('DRIFT', `${endpoint}:${path}`)
    const present = presentBefore(field)
    if (!isOpen && (present === undefined || present < minPresent)) return
    const before = present === undefined ? '' : `; ${present} of the ${window} before had it`
    ledger.note({
      code: 'DRIFT',
      subject: `${endpoint}:${path}`,
      describe: () => ({
        cause: `None of the last ${field.absent} requests to /${endpoint} has ${path}, which mapping "${mapping}" uses${before}.`,
        label: 'See what the sender sends now, and fix the name of the field in the mapping',
        command: `reveille requests${endpointOption(endpoint)} --limit 5`,
      }),
    })
  }

  function readerOf(snapshot: Snapshot, endpoint: string): Promise<FieldPresence> {
    const readers = readersOf(snapshot)
    const known = readers.get(endpoint)
    if (known !== undefined) return known
    const reader = compileFieldPresence(snapshot.entriesOf(endpoint))
    readers.set(endpoint, reader)
    return reader
  }

  return {
    /** Reads the mappings of the sampled endpoints when they go live, so that the next request need not wait for it. */
    applied(snapshot: Snapshot): void {
      for (const endpoint of endpoints.keys()) void readerOf(snapshot, endpoint)
    },

    /** Takes a request as a sample, or does not. */
    sample(request: HookRequest, snapshot: Snapshot): void {
      const { isUndecoded, now } = request
      if (isUndecoded || waiting.length >= maxWaiting) return
      const endpoint = configuredName(snapshot, request.endpoint)
      if (endpoint === undefined) return
      let sampled = endpoints.get(endpoint)
      if (sampled === undefined) {
        sampled = { tokens: burst, at: now, fields: new Map() }
        endpoints.set(endpoint, sampled)
      }
      if (!hasToken(sampled, now)) return
      if (waiting.push([request, snapshot, endpoint]) === 1) setImmediate(lookAtAll)
    },
  }
}

function hasToken(sampled: Sampled, at: number): boolean {
  const refilled = sampled.tokens + (Math.max(0, at - sampled.at) / 1000) * perSecond
  sampled.tokens = Math.min(burst, refilled)
  sampled.at = at
  if (sampled.tokens < 1) return false
  sampled.tokens -= 1
  return true
}

function newField(): Field {
  return { samples: [], absent: 0 }
}

function take(field: Field, isThere: boolean): void {
  if (field.samples.push(isThere) > maxSamples) field.samples.shift()
  field.absent = isThere ? 0 : field.absent + 1
}

/** Counts the samples with the field before the newest ones that lack it; undefined while there are too few, or no more. */
function presentBefore({ samples, absent }: Field): number | undefined {
  if (samples.length < maxSamples || absent !== absentRun) return undefined
  return samples.filter(Boolean).length
}
