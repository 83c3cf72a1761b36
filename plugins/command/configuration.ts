/** Defines the configuration of this runner as `config.schema.json` accepts it. */

/** Arguments, of which an inner list is left out as a whole if one of its values is absent. */
export type ArgumentList = readonly (string | readonly string[])[]

export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]

/** Pointers and the values that they must have. */
export type MatchConfiguration = Readonly<Record<string, string | number | boolean | null>>

/** The place of a value, and with `match` only in lines that match. */
export type FieldConfiguration = string | { readonly match?: MatchConfiguration; readonly at: string }

export interface UsageConfiguration {
  readonly match?: MatchConfiguration
  readonly input?: string | readonly string[]
  readonly output?: string | readonly string[]
  readonly cached?: string | readonly string[]
  readonly reasoning?: string | readonly string[]
  readonly cumulative?: boolean
}

export interface ProgressConfiguration {
  readonly match?: MatchConfiguration
  readonly text?: string
  readonly note?: string
}

export interface OutputConfiguration {
  readonly format?: 'text' | 'json' | 'jsonl'
  readonly text?: FieldConfiguration
  readonly session?: FieldConfiguration
  readonly error?: FieldConfiguration
  readonly model?: FieldConfiguration
  readonly usage?: UsageConfiguration
  readonly progress?: readonly ProgressConfiguration[]
}

/** The settings of a recipe, each of which a configuration may override. */
export interface Recipe {
  readonly command?: string
  readonly args?: ArgumentList
  readonly start?: ArgumentList
  readonly resume?: ArgumentList
  readonly thinking?: Partial<Readonly<Record<ThinkingLevel, ArgumentList>>>
  readonly input?: 'stdin' | 'argument' | 'json'
  readonly output?: OutputConfiguration
  readonly session?: 'ours' | 'theirs' | 'none'
  readonly lost?: readonly string[]
  readonly taken?: readonly string[]
  readonly outage?: readonly string[]
  readonly modelPattern?: string
}

export interface CommandConfiguration extends Recipe {
  readonly preset?: 'claude' | 'codex' | 'gemini'
  readonly extraArgs?: ArgumentList
  readonly history?: boolean
  readonly disarm?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly envAllow?: readonly string[]
  readonly cwd?: string
  readonly killGrace?: string
  readonly maxOutputBytes?: number
  readonly retryableExitCodes?: readonly number[]
}
