/** Describes the commands that connect a plugin, which are read from its package without running the plugin. */

/** The content of the file that `reveille.setup` of a manifest names. */
export interface SetupDescription {
  /** The name of the service in sentences. */
  readonly title: string
  /** `connect NAME` of a provider, or `webhooks NAME setup` of a source. */
  readonly connect: CommandDescription
  /** `disconnect NAME` of a provider, or `webhooks NAME run` of a source. */
  readonly other?: CommandDescription
  /** Of a provider: what its API is asked with. */
  readonly token?: {
    readonly variable: string
    /** The permission that it needs, in words. */
    readonly permission: string
  }
  /** Of a provider: the variable that replaces the address of its API, and that address. */
  readonly api?: { readonly variable: string; readonly default: string }
  /** Of a provider: whether it sends to https:// addresses only. Default: false. */
  readonly needsHttps?: boolean
  /** Of a provider without a test event: how to have it send one, as a sentence. */
  readonly howToTry?: string
}

export interface CommandDescription {
  readonly description: string
  readonly argument?: OptionDescription
  readonly options?: readonly OptionDescription[]
  readonly help?: string
  readonly examples: readonly string[]
}

export interface OptionDescription {
  /** As in the help: `--account <address>`, or `[repo]` for an argument. */
  readonly flags: string
  readonly description: string
  /** The name that the plugin is given it by. Default: the flag in camelCase. */
  readonly key?: string
  readonly choices?: readonly string[]
  /** Makes it a whole number in this range. */
  readonly range?: readonly [least: number, most: number]
  /** A regular expression, and the sentence for a value that does not match it. */
  readonly pattern?: string
  readonly problem?: string
  /** True if it is a path, which is made absolute. */
  readonly isPath?: boolean
}
