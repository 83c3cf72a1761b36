/** Compiles configurations to snapshots one after another while requests are served, and only the mappings that have changed. */

import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { inFileOrder } from '../config/file/diagnostics.ts'
import { priceHint } from '../config/rules/agent-rules.ts'
import { priceOf } from '../config/rules/prices.ts'
import { freezeDeep } from '../config/values/freeze-deep.ts'
import { keyOfSource, mailbox, mailboxPath } from '../config/values/mailbox.ts'
import { overlapsPath } from '../config/values/path-overlap.ts'
import { parseDuration } from '../config/values/quantities.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import { compileRules } from '../resolve/admit/rules.ts'
import type { Covering } from '../resolve/explain.ts'
import type { Program } from '../resolve/model/program.ts'
import type { Transforms } from '../transform/port.ts'
import { compileMappings, type MappingCache, type ReadyMapping } from './compiled-mappings.ts'
import { createCoverage } from './coverage.ts'
import { type CompileContext, runnerProblem } from './fields/settings-check.ts'
import { builtInEndpoints, type DecisionIndex, indexMappings } from './match/decision-index.ts'
import { compileResolving } from './resolving.ts'
import type { Catalog, Snapshot } from './snapshot.ts'

export type Compiled =
  | { readonly ok: true; readonly snapshot: Snapshot; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

export interface Coverage {
  /** The mappings whose path covers an endpoint, including disabled ones, in matching order. */
  readonly covering: (endpoint: string) => readonly Covering[]
  readonly index: DecisionIndex
  /** The enabled mappings in matching order. */
  readonly programs: readonly Program[]
}

export type CompiledWithCoverage =
  | (Extract<Compiled, { ok: true }> & Coverage)
  | Extract<Compiled, { ok: false }>

export interface Compiler {
  /**
   * Freezes the configuration's settings and policies, which become the snapshot's. Without `transforms`, a mapping that names a
   * transform does not compile. A mapping is recognised by its entry's `value`, which must be the same object; its id, its
   * place, the settings and `transforms` may have changed. Only what the last call used is kept.
   */
  compile(
    configuration: Configuration,
    catalog: Catalog,
    transforms?: Transforms,
  ): Promise<CompiledWithCoverage>
}

interface CompileParts {
  readonly configuration: Configuration
  readonly catalog: Catalog
  readonly randomness: Randomness
  readonly transforms: Transforms
}

/** Results of one compilation that the next one reuses. */
interface CompileCache {
  mappings: MappingCache
  context: CompileContext | undefined
}

const noTransforms: Transforms = { bind: () => undefined }

export function createCompiler({ randomness }: { readonly randomness: Randomness }): Compiler {
  const cache: CompileCache = { mappings: new Map(), context: undefined }
  return {
    compile: (configuration, catalog, transforms = noTransforms) =>
      compile({ configuration, catalog, randomness, transforms }, cache),
  }
}

async function compile(parts: CompileParts, cache: CompileCache): Promise<CompiledWithCoverage> {
  const { configuration, catalog, transforms } = parts
  const context = contextOf(configuration, catalog, cache.context)
  const diagnostics = [
    ...configuration.warnings,
    ...checkDefaultRunner(configuration, context),
    ...checkPrices(configuration),
    ...checkCatchUp(configuration),
  ]
  const compiled = await compileMappings(configuration.mappings, {
    context,
    transforms,
    cache: context === cache.context ? cache.mappings : new Map(),
    diagnostics,
  })
  cache.mappings = compiled.cache
  cache.context = context
  if (diagnostics.some(({ severity }) => severity === 'error'))
    return { ok: false, diagnostics: errorsFirst(diagnostics) }
  const indexed = compiled.mappings.map(({ program, summary }) => ({ path: summary.path, program }))
  const index = indexMappings(indexed)
  diagnostics.push(...checkMail(configuration, index))
  const covering = createCoverage(configuration, index)
  const snapshot = makeSnapshot(parts, context, compiled.mappings, index, covering)
  const programs = compiled.mappings.map(({ program }) => program)
  return { ok: true, snapshot, warnings: inFileOrder(diagnostics), covering, index, programs }
}

/** Returns the object of the last compilation if nothing in it has changed. */
function contextOf(
  { settings }: Configuration,
  catalog: Catalog,
  before: CompileContext | undefined,
): CompileContext {
  const context = {
    rules: compileRules(settings, catalog.channels, catalog.relays),
    runners: new Set([...catalog.runners, ...Object.keys(settings.agents.runners)]),
  }
  return isDeepStrictEqual(context, before) ? (before as CompileContext) : context
}

function makeSnapshot(
  { configuration, randomness }: CompileParts,
  { rules }: CompileContext,
  mappings: readonly ReadyMapping[],
  index: DecisionIndex,
  covering: Coverage['covering'],
): Snapshot {
  const { settings, endpoints, digest, sharedDigest } = configuration
  const resolving = compileResolving({ settings, endpoints, rules, randomness })
  const { policyOf, effectivePolicyOf } = resolving
  const { resolve, explain } = resolving.over(index.candidates, covering)
  const snapshot: Snapshot = {
    digest,
    sharedDigest,
    settings: freezeDeep(settings),
    endpoints,
    mappings: Object.freeze(mappings.map(({ summary }) => summary)),
    covers: (endpoint) =>
      builtInEndpoints.has(endpoint) || index.count(endpoint) > 0 || policyOf(endpoint) !== undefined,
    entriesOf: (endpoint) => {
      const ids = new Set(index.covering(endpoint).map(({ program }) => program.id))
      return configuration.mappings.filter(({ id }) => ids.has(id))
    },
    readsPayload: () => true,
    policyOf,
    effectivePolicyOf,
    resolve,
    explain,
  }
  for (const value of Object.values(snapshot)) Object.freeze(value)
  return Object.freeze(snapshot)
}

/** Checks the default runner of the settings; the runner of a mapping is checked with the mapping. */
function* checkDefaultRunner(
  { locate }: Configuration,
  { rules, runners }: CompileContext,
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

/**
 * Checks the models that mappings name where a budget in US dollars pays for their runs. The default model is checked with the
 * budget, and a model that is rendered when its run is about to begin.
 */
function* checkPrices({ settings: { agents }, endpoints, mappings }: Configuration): Iterable<Diagnostic> {
  const names = Object.keys(endpoints).filter((name) => endpoints[name]?.budget?.usd !== undefined)
  const isForAll = agents.budget?.usd !== undefined
  if (!isForAll && names.length === 0) return
  for (const { id, value, locate } of mappings) {
    const { model, action, match } = value
    if (action === 'wake' || typeof model !== 'string' || /\{[{%]|^\s*$/.test(model)) continue
    const name = names.find((each) => overlapsPath(match?.path, each))
    const budget = isForAll ? 'agents.budget.usd' : name && `endpoints.${name}.budget.usd`
    const meant = agents.defaults.models?.aliases[model] ?? model
    if (budget === undefined || priceOf(agents, meant) !== undefined) continue
    const message = `\`model\` of mapping "${id}": has no known price, and \`${budget}\` counts what its runs cost`
    yield {
      severity: 'error',
      code: 'MODEL_WITHOUT_PRICE',
      message,
      place: locate(['model']),
      hint: priceHint(meant),
    }
  }
}

/**
 * Checks that a mapping recognises what is caught up for as long as it may be caught up. Where a mapping says nothing, its window is
 * long enough.
 */
function* checkCatchUp({ endpoints, mappings }: Configuration): Iterable<Diagnostic> {
  const caughtUp = Object.entries(endpoints).flatMap(([name, { catchUp }]) =>
    catchUp === undefined ? [] : [{ name, lookBack: catchUp.lookBack }],
  )
  if (caughtUp.length === 0) return
  for (const { id, value, locate } of mappings) {
    const { dedupe, match } = value
    if (dedupe === undefined) continue
    const short = caughtUp.find(
      ({ name, lookBack }) =>
        overlapsPath(match?.path, name) &&
        (!dedupe.enabled || (dedupe.windowMs ?? Number.POSITIVE_INFINITY) < parseDuration(lookBack)),
    )
    if (short === undefined) continue
    const { name, lookBack } = short
    const key = dedupe.enabled ? 'window' : 'enabled'
    const problem = dedupe.enabled ? `is shorter than ${lookBack}` : 'is false'
    yield {
      severity: 'error',
      code: 'DEDUPE_TOO_SHORT',
      message: `\`dedupe.${key}\` of mapping "${id}": ${problem}, and \`endpoints.${name}.catchUp\` may take what came up to ${lookBack} ago`,
      place: locate(['dedupe', key]),
      hint: dedupe.enabled
        ? `Write ${lookBack} or more, leave \`window\` out, or shorten \`catchUp.lookBack\`.`
        : 'Remove it, so that what was delivered already is not taken again; or remove `catchUp`.',
    }
  }
}

/** Warns of a watched mailbox that no mapping reads: its mails would be fetched and then ignored. */
function* checkMail({ settings, locate }: Configuration, index: DecisionIndex): Iterable<Diagnostic> {
  if (settings.sources[mailbox] === undefined || index.count(mailbox) > 0) return
  yield {
    severity: 'warning',
    code: 'MAIL_UNMAPPED',
    message: `\`${keyOfSource(mailbox)}\` names a mailbox, and no mapping takes the endpoint \`${mailbox}\`: its mails are ignored`,
    place: locate(mailboxPath),
    hint: `Write \`presets: [${mailbox}]\` under \`hooks:\`, or a mapping with \`match: { path: ${mailbox} }\`.`,
  }
}

function errorsFirst(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const { error = [], warning = [] } = Object.groupBy(inFileOrder(diagnostics), ({ severity }) => severity)
  return [...error, ...warning]
}
