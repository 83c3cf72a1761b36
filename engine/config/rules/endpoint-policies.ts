/** Merges endpoint policies: the configuration's, those of all mapping files, and those of presets. */

import { isDeepStrictEqual } from 'node:util'
import type { Findings } from '../file/diagnostics.ts'
import { findingOf, type KeyFault, noEffect } from '../file/key-fault.ts'
import type { LoadCache } from '../file/load-cache.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import type { EndpointPolicy } from '../schema/policy-schema.ts'
import { type Path, writePath } from '../values/path.ts'
import { parseRate, type Rate } from '../values/rate.ts'
import { checkEndpointName } from './endpoint-name.ts'

/** The policies of one file. */
export interface PolicySet {
  readonly source: ParsedFile
  readonly path: Path
  /** Policies by endpoint name. Other values were refused. */
  readonly policies: unknown
  /** Returns the name under which a written endpoint is served. */
  rename?(name: string): string
}

export interface PolicySets {
  readonly main: PolicySet | undefined
  readonly files: readonly PolicySet[]
  readonly presets: readonly PolicySet[]
}

/** The merged policy of each endpoint, and the files that define it. */
export type JoinedPolicies = ReturnType<typeof mergeEndpoints>

/**
 * The configuration takes precedence over files, and they over presets, key by key. Two files cannot define one
 * endpoint.
 */
export function mergeEndpoints(sets: PolicySets, cache: LoadCache, findings: Findings) {
  const merged: Record<string, EndpointPolicy> = Object.create(null)
  // Presets may agree about an endpoint, and then any of them can be used.
  const layers = [
    createLayer(sets.presets, isDeepStrictEqual, findings),
    createLayer(sets.files, () => false, findings),
    createLayer(sets.main ? [sets.main] : [], () => false, findings),
  ]
  for (const layer of layers)
    for (const [name, { policy }] of layer) merged[name] = joined(merged[name], policy)
  for (const [name, policy] of Object.entries(merged)) merged[name] = cache.keep('endpoint', name, policy)
  return {
    endpoints: Object.freeze(merged),
    /**
     * Returns the written policies of an endpoint: of presets, of files, and of the configuration. Later ones take
     * precedence.
     */
    writtenAbout: (name: string): readonly WrittenPolicy[] =>
      layers.flatMap((layer, index) => {
        const written = layer.get(name)
        return written ? [{ ...written, from: layerNames[index] }] : []
      }),
  }
}

/** Merges key by key, also within `verify`: a preset names the provider, and the configuration its secret. */
function joined(under: EndpointPolicy | undefined, over: EndpointPolicy): EndpointPolicy {
  const verify = under?.verify && over.verify ? { ...under.verify, ...over.verify } : undefined
  return { ...under, ...over, ...(verify && { verify }) }
}

const layerNames = ['preset', 'file', 'configuration'] as const
export type PolicyOrigin = (typeof layerNames)[number]

/** A policy as one file has it. */
export interface WrittenPolicy {
  readonly policy: EndpointPolicy
  readonly source: ParsedFile
  readonly path: Path
  /** The kind of file. */
  readonly from?: PolicyOrigin
}

function createLayer(
  sets: readonly PolicySet[],
  mayShare: (one: EndpointPolicy, other: EndpointPolicy) => boolean,
  findings: Findings,
): Map<string, WrittenPolicy> {
  const layer = new Map<string, WrittenPolicy>()
  for (const set of sets) {
    for (const [name, policy] of policiesIn(set, findings)) {
      const other = layer.get(name)
      if (other && !mayShare(policy.policy, other.policy)) reportTwice(policy, other, findings)
      else layer.set(name, policy)
    }
  }
  return layer
}

function reportTwice({ source, path }: WrittenPolicy, owner: WrittenPolicy, findings: Findings): void {
  const { line, column } = owner.source.place(owner.path, 'key')
  const message = `\`${writePath(path)}\` is already named at ${owner.source.name}:${line}:${column}`
  const hint = 'Keep the policy of one endpoint in one file, or in the configuration, which wins.'
  findings.report(source, { path, at: 'key', code: 'DUPLICATE_ENDPOINT', message, hint })
}

function* policiesIn(
  { source, path, policies, rename }: PolicySet,
  findings: Findings,
): Iterable<[string, WrittenPolicy]> {
  if (!findings.isSound(source, path) || typeof policies !== 'object' || policies === null) return
  for (const [name, policy] of Object.entries(policies)) {
    const at = [...path, name]
    const finding = checkEndpointName(name, at, 'key')
    if (finding) findings.report(source, finding)
    for (const fault of [...unusedKeys(name, policy), ...checkRates(policy)])
      findings.report(source, findingOf(fault, at))
    yield [rename?.(name) ?? name, { policy: { ...policy }, source, path: at }]
  }
}

const noActor = 'its bodies name no actor'
const noRun = 'a wake starts no run of its own'
/** The keys without effect on a built-in endpoint, with the reason. */
const unusedOf = new Map<string, Readonly<Record<string, string>>>([
  ['agent', { bots: noActor }],
  ['wake', { concurrency: noRun, timeoutSeconds: noRun, budget: noRun, bots: noActor }],
])

function unusedKeys(name: string, policy: EndpointPolicy): KeyFault[] {
  const unused = Object.entries(unusedOf.get(name) ?? {})
  return unused.flatMap(([key, why]) => (Object.hasOwn(policy, key) ? noEffect([key], why) : []))
}

/** Rates are counted in memory, which a restart clears, so a longer period could not be kept. */
const maxWindowMs = 86_400_000

function* checkRates({ rate = {} }: EndpointPolicy): Iterable<KeyFault> {
  for (const key of ['endpoint', 'client'] as const) {
    if (rate[key] === undefined || parseRate(rate[key]).windowMs <= maxWindowMs) continue
    const hint = 'At most 1d: what was counted is in memory, and a restart forgets it.'
    yield { keys: ['rate', key], code: 'INVALID_VALUE', problem: 'counts for longer than a day', hint }
  }
  if (rate.endpoint === undefined || rate.client === undefined) return
  if (!isWithin(parseRate(rate.endpoint), parseRate(rate.client))) return
  const why = '`endpoint` allows no more to all clients together'
  yield { ...noEffect(['rate', 'client'], why, 'Make it lower than `endpoint`, or remove it.'), at: 'value' }
}

/** Whether a client that stays within the first rate also stays within the second one. */
function isWithin(first: Rate, second: Rate): boolean {
  return first.most * Math.ceil(second.windowMs / first.windowMs) <= second.most
}
