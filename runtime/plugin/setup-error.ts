/** Owns why a plugin could not take part: at boot it stops the gateway, at a reload it refuses the candidate. */

export type PluginSetupErrorCode =
  /** The package is not installed, or the path holds none. */
  | 'PLUGIN_MISSING'
  /** The package's `reveille` key is absent or wrong, or two packages claim one name. */
  | 'PLUGIN_MANIFEST'
  /** The package was made for another version of the kit. */
  | 'PLUGIN_KIT'
  /** The configuration does not fit the plugin's schema. */
  | 'PLUGIN_CONFIG'
  /** The module could not be imported, or `setup` threw, hung, or did not bring what the manifest promises. */
  | 'PLUGIN_SETUP'

/** One finding, in words that the operator can act on. Holds names and rules, never a configured value. */
export interface PluginProblem {
  /** The configuration key: `channels.slack.botToken`. */
  readonly key: string
  /** What follows the key in a sentence: `is required`. */
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

/** Throws all that went wrong as one error, so that an operator mends everything at one go. */
export function throwJoined(errors: readonly unknown[]): void {
  for (const error of errors) if (!(error instanceof PluginSetupError)) throw error
  const refusals = errors as readonly PluginSetupError[]
  const [first, ...others] = refusals
  if (first === undefined) return
  if (others.length === 0) throw first
  const plugins = [...new Set(refusals.map((error) => error.plugin))].join(', ')
  // Runners that inherit one key have its mistakes in common.
  const problems = withoutRepeats(refusals.flatMap((error) => error.problems))
  throw new PluginSetupError(first.code, plugins, problems, { cause: new AggregateError(refusals) })
}

export function withoutRepeats(problems: readonly PluginProblem[]): PluginProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.key} ${problem.message}`, problem])).values()]
}

function sentence({ key, message, hint }: PluginProblem): string {
  const text = `${key} ${message}${hint === undefined ? '' : `; ${hint}`}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}
