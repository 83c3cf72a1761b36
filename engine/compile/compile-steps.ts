/** Owns the way from a configuration to a snapshot, in pieces, with what is worth keeping for the next one. */

import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import { inFileOrder } from '../config/diagnostic/diagnostic-order.ts'
import { freezeDeep } from '../config/freeze-deep.ts'
import type { Randomness } from '../resolve/admit.ts'
import { type Covering, createExplain } from '../resolve/explain.ts'
import { createResolve } from '../resolve/resolve.ts'
import { compileRules } from '../resolve/rules.ts'
import type { Transforms } from '../transform/port.ts'
import { createCoverage } from './coverage.ts'
import { indexEffectivePolicies } from './effective-policies.ts'
import { indexPolicies } from './endpoint-policy.ts'
import { runnerProblem, type Surroundings } from './mapping-check.ts'
import { builtInEndpoints, type DecisionIndex, indexMappings } from './match/decision-index.ts'
import { createGroupMemory, type GroupMemory } from './match/groups.ts'
import { type Serving, type ServingMemory, serveMappings } from './serving.ts'
import type { Work } from './slices.ts'
import type { Catalog, Snapshot } from './snapshot.ts'

export type Compiled =
  | { readonly ok: true; readonly snapshot: Snapshot; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** The mappings whose path covers an endpoint, those that are switched off among them, in matching order. */
export interface Coverage {
  readonly covering: (endpoint: string) => readonly Covering[]
}

export type CompiledWithCoverage =
  | (Extract<Compiled, { ok: true }> & Coverage)
  | Extract<Compiled, { ok: false }>

export interface CompileParts {
  readonly configuration: Configuration
  readonly catalog: Catalog
  readonly randomness: Randomness
  readonly transforms: Transforms
}

/** What the last compilation came to, as far as the next one can use it. */
export interface CompileMemory {
  serving: ServingMemory
  surroundings: Surroundings | undefined
  readonly groups: GroupMemory
}

export function createCompileMemory(): CompileMemory {
  return { serving: new Map(), surroundings: undefined, groups: createGroupMemory() }
}

export function* compileSteps(parts: CompileParts, memory: CompileMemory): Work<CompiledWithCoverage> {
  const { configuration, catalog, transforms } = parts
  const surroundings = surroundingsOf(configuration, catalog, memory.surroundings)
  const diagnostics = [...configuration.warnings, ...checkDefaultRunner(configuration, surroundings)]
  const served = yield* serveMappings(configuration.mappings, {
    surroundings,
    transforms,
    memory: memory.serving,
    diagnostics,
  })
  memory.serving = served.memory
  memory.surroundings = surroundings
  if (diagnostics.some(({ severity }) => severity === 'error'))
    return { ok: false, diagnostics: errorsFirst(diagnostics) }
  const indexed = served.serving.map(({ program, summary }) => ({ path: summary.path, program }))
  const index = yield* indexMappings(indexed, memory.groups)
  diagnostics.push(...checkMail(configuration, index))
  const covering = createCoverage(configuration, index)
  const snapshot = yield* makeSnapshot(parts, surroundings, served.serving, index, covering)
  return { ok: true, snapshot, warnings: inFileOrder(diagnostics), covering }
}

/** The same object as before where they say the same. */
function surroundingsOf(
  { settings }: Configuration,
  catalog: Catalog,
  before: Surroundings | undefined,
): Surroundings {
  const surroundings = {
    rules: compileRules(settings, catalog.channels, catalog.relays),
    runners: new Set([...catalog.runners, ...Object.keys(settings.agents.runners)]),
  }
  return isDeepStrictEqual(surroundings, before) ? (before as Surroundings) : surroundings
}

function* makeSnapshot(
  { configuration, randomness }: CompileParts,
  { rules }: Surroundings,
  serving: readonly Serving[],
  index: DecisionIndex,
  covering: Coverage['covering'],
): Work<Snapshot> {
  const { settings, endpoints, digest } = configuration
  const policyOf = yield* indexPolicies(endpoints)
  const effectivePolicyOf = yield* indexEffectivePolicies(endpoints)
  const resolve = createResolve({
    candidates: index.candidates,
    rules,
    effectivePolicyOf,
    policyOf,
    limits: settings.hooks,
    folder: dirname(settings.file),
    randomness,
  })
  const snapshot: Snapshot = {
    digest,
    settings: freezeDeep(settings),
    endpoints,
    mappings: Object.freeze(serving.map(({ summary }) => summary)),
    covers: (endpoint) =>
      builtInEndpoints.has(endpoint) || index.covers(endpoint) || policyOf(endpoint) !== undefined,
    policyOf,
    effectivePolicyOf,
    resolve,
    explain: createExplain({ resolve, covering }),
  }
  for (const value of Object.values(snapshot)) Object.freeze(value)
  return Object.freeze(snapshot)
}

/** Of the settings; a mapping's own is the mapping's affair. */
function* checkDefaultRunner(
  { locate }: Configuration,
  { rules, runners }: Surroundings,
): Iterable<Diagnostic> {
  const problem = runnerProblem(rules.defaults.runner, runners)
  if (problem === undefined) return
  yield {
    severity: 'error',
    code: 'UNKNOWN_RUNNER',
    message: `\`agents.defaults.runner\` ${problem.message}`,
    place: locate(['agents', 'defaults', 'runner']),
    hint: problem.hint,
  }
}

/** A watched mailbox whose mails nothing answers: fetched, and ignored one by one. */
function* checkMail({ settings, locate }: Configuration, index: DecisionIndex): Iterable<Diagnostic> {
  if (settings.sources['gmail'] === undefined || index.covers('gmail')) return
  yield {
    severity: 'warning',
    code: 'MAIL_UNMAPPED',
    message:
      '`hooks.gmail` names a mailbox, and no mapping takes the endpoint `gmail`: its mails are ignored',
    place: locate(['hooks', 'gmail']),
    hint: 'Write `presets: [gmail]` under `hooks:`, or a mapping with `match: { path: gmail }`.',
  }
}

function errorsFirst(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const { error = [], warning = [] } = Object.groupBy(inFileOrder(diagnostics), ({ severity }) => severity)
  return [...error, ...warning]
}
