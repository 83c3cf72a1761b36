/** Defines why a plugin could not be used: at the start it ends the gateway, at a reload it refuses the candidate. */

import { CandidateError, type Configuration, type Diagnostic } from '@reveille/engine'

export type PluginSetupErrorCode =
  /** The package is not installed, or the folder holds none. */
  | 'PLUGIN_MISSING'
  /** The package's `reveille` key is absent or wrong, or two packages claim one name. */
  | 'PLUGIN_MANIFEST'
  /** The package was made for another version of the kit. */
  | 'PLUGIN_KIT'
  /** The configuration does not fit the plugin's schema. */
  | 'PLUGIN_CONFIG'
  /** The module could not be imported, or `setup` threw, hung, or did not bring what the manifest promises. */
  | 'PLUGIN_SETUP'

/** One problem, in words that the operator can act on. It holds names and rules, never a configured value. */
export interface PluginProblem {
  /** The configuration key: `channels.slack.botToken`. */
  readonly key: string
  /** The predicate of a sentence about the key: `is required`. */
  readonly message: string
  readonly hint?: string
}

export class PluginSetupError extends Error {
  readonly code: PluginSetupErrorCode
  /** The package's name, or the path that configuration gives. */
  readonly plugin: string
  /** At least one. */
  readonly problems: readonly PluginProblem[]

  constructor(
    code: PluginSetupErrorCode,
    plugin: string,
    problems: readonly PluginProblem[],
    options?: ErrorOptions,
  ) {
    super(`Plugin ${plugin}: ${problems.map(sentence).join(' ')}`, options)
    this.name = 'PluginSetupError'
    this.code = code
    this.plugin = plugin
    this.problems = problems
  }
}

/** Throws all problems as one error, so that an operator can fix them at once. */
export function throwJoined(errors: readonly unknown[]): void {
  for (const error of errors) if (!(error instanceof PluginSetupError)) throw error
  const refusals = errors as readonly PluginSetupError[]
  const [first, ...others] = refusals
  if (first === undefined) return
  if (others.length === 0) throw first
  const plugins = [...new Set(refusals.map((error) => error.plugin))].join(', ')
  // Runners that inherit the same key share its mistakes.
  const problems = withoutRepeats(refusals.flatMap((error) => error.problems))
  throw new PluginSetupError(first.code, plugins, problems, { cause: new AggregateError(refusals) })
}

/** Maps every item before it throws what is wrong with any of them. @throws PluginSetupError */
export function mapJoined<Item, Result>(items: readonly Item[], map: (item: Item) => Result): Result[] {
  const results: Result[] = []
  const errors: unknown[] = []
  for (const item of items) {
    try {
      results.push(map(item))
    } catch (error) {
      errors.push(error)
    }
  }
  throwJoined(errors)
  return results
}

export function withoutRepeats(problems: readonly PluginProblem[]): PluginProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.key} ${problem.message}`, problem])).values()]
}

function sentence({ key, message, hint }: PluginProblem): string {
  const text = `${key} ${message}${hint === undefined ? '' : `; ${hint}`}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** The diagnostics of a plugin's problems: a problem names a key, and a diagnostic shows its line. */
export function diagnosticsOf(
  { code, problems }: { readonly code: string; readonly problems: readonly PluginProblem[] },
  configuration: Configuration,
  severity: Diagnostic['severity'] = 'error',
): Diagnostic[] {
  return problems.map(({ key, message, hint }) => {
    const place = configuration.locate(key.split(/[.[\]]+/).filter(Boolean))
    return { severity, code, message: `${key} ${message}`, place, hint }
  })
}

/** Reports a problem of a plugin at its place, like every other problem of a candidate. */
export async function located<Result>(
  configuration: Configuration,
  step: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof PluginSetupError)) throw error
    throw new CandidateError(diagnosticsOf(error, configuration), { cause: error })
  }
}
