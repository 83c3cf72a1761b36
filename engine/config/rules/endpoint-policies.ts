/** Merges endpoint policies: the configuration's, those of all mapping files, and those of presets. */

import { isDeepStrictEqual } from 'node:util'
import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { Diagnostics } from '../file/diagnostics.ts'
import { keepTree } from '../file/kept.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import type { EndpointPolicy } from '../schema/policy-schema.ts'
import type { Path } from '../values/path.ts'
import { parseRate } from '../values/quantities.ts'
import { checkEndpointName } from './endpoint-name.ts'

/** The kinds of files, of which later ones take precedence. */
const origins = ['preset', 'file', 'configuration'] as const
export type PolicyOrigin = (typeof origins)[number]

/** The policies of one file. */
export interface PolicySet {
  readonly from: PolicyOrigin
  readonly source: ParsedFile
  readonly path: Path
  /** Policies by endpoint name. Other values were refused. */
  readonly policies: unknown
  /** Returns the name under which a written endpoint is served. */
  rename?(name: string): string
}

/** A policy as one file has it. */
export interface WrittenPolicy {
  readonly policy: EndpointPolicy
  readonly source: ParsedFile
  readonly path: Path
  readonly from: PolicyOrigin
}

/** The merged policy of each endpoint, and the files that define it. */
export type MergedPolicies = ReturnType<typeof mergeEndpoints>

/**
 * The configuration takes precedence over files, and they over presets, key by key. Two files cannot define one
 * endpoint; presets may agree about one, and then any of them can be used.
 */
export function mergeEndpoints(sets: readonly PolicySet[], diagnostics: Diagnostics) {
  const layers = origins.map((origin) => {
    const layer = new Map<string, WrittenPolicy>()
    for (const set of sets.filter(({ from }) => from === origin))
      for (const [name, written] of policiesIn(set, diagnostics)) {
        const other = layer.get(name)
        if (other && !(origin === 'preset' && isDeepStrictEqual(written.policy, other.policy)))
          reportTwice(written, other, diagnostics)
        else layer.set(name, written)
      }
    return layer
  })
  const merged: Record<string, EndpointPolicy> = Object.create(null)
  for (const layer of layers)
    for (const [name, { policy }] of layer) merged[name] = mergePolicies(merged[name], policy)
  for (const [name, policy] of Object.entries(merged)) merged[name] = keepTree('endpoint', name, policy)
  return {
    endpoints: Object.freeze(merged),
    /** Returns the written policies of an endpoint. Later ones take precedence. */
    writtenAbout: (name: string): readonly WrittenPolicy[] =>
      layers.flatMap((layer) => layer.get(name) ?? []),
  }
}

/** Merges key by key, also within `verify`: a preset names the provider, and the configuration its secret. */
function mergePolicies(under: EndpointPolicy | undefined, over: EndpointPolicy): EndpointPolicy {
  const verify = under?.verify && over.verify ? { ...under.verify, ...over.verify } : undefined
  return { ...under, ...over, ...(verify && { verify }) }
}

function reportTwice({ source, path }: WrittenPolicy, owner: WrittenPolicy, diagnostics: Diagnostics): void {
  const problem = `is already named at ${owner.source.label(owner.path, 'key')}`
  const hint = 'Keep the policy of one endpoint in one file, or in the configuration, which wins.'
  diagnostics.report(source, [{ path, at: 'key', code: 'DUPLICATE_ENDPOINT', problem, hint }])
}

function* policiesIn(
  { from, source, path: above, policies, rename }: PolicySet,
  diagnostics: Diagnostics,
): Iterable<[string, WrittenPolicy]> {
  if (!diagnostics.isSound(source, above) || typeof policies !== 'object' || policies === null) return
  for (const [name, policy] of Object.entries(policies)) {
    const path = [...above, name]
    const found = [...checkEndpointName(name, [], 'key'), ...unusedKeys(name, policy), ...checkRates(policy)]
    diagnostics.report(source, found, path)
    yield [rename?.(name) ?? name, { policy: { ...policy }, source, path, from }]
  }
}

const noActor = 'its bodies name no actor'
const noRun = 'a wake starts no run of its own'
/** The keys without effect on a built-in endpoint, with the reason. */
const unusedOf = new Map<string, Readonly<Record<string, string>>>([
  ['agent', { bots: noActor }],
  ['wake', { concurrency: noRun, timeoutSeconds: noRun, budget: noRun, bots: noActor }],
])

function unusedKeys(name: string, policy: EndpointPolicy): Finding[] {
  const unused = Object.entries(unusedOf.get(name) ?? {})
  return unused.flatMap(([key, why]) => (Object.hasOwn(policy, key) ? noEffect([key], why) : []))
}

/** Rates are counted in memory, which a restart clears, so a longer period could not be kept. */
const maxWindowMs = 86_400_000

function* checkRates({ rate = {} }: EndpointPolicy): Iterable<Finding> {
  for (const key of ['endpoint', 'client'] as const) {
    if (rate[key] === undefined || parseRate(rate[key]).windowMs <= maxWindowMs) continue
    const hint = 'At most 1d: what was counted is in memory, and a restart forgets it.'
    yield { path: ['rate', key], code: 'INVALID_VALUE', problem: 'counts for longer than a day', hint }
  }
  if (rate.endpoint === undefined || rate.client === undefined) return
  const [all, each] = [parseRate(rate.endpoint), parseRate(rate.client)]
  // A client that stays within the first rate may also stay within the second one.
  if (all.max * Math.ceil(each.windowMs / all.windowMs) > each.max) return
  const why = '`endpoint` allows no more to all clients together'
  yield { ...noEffect(['rate', 'client'], why, 'Make it lower than `endpoint`, or remove it.'), at: 'value' }
}
