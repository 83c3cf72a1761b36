/**
 * Defines the settings of a valid configuration: defaults filled in, references resolved, paths absolute, times in
 * milliseconds.
 */

import type { AddressRange } from './address-range.ts'
import type { DeepReadonly } from './freeze-deep.ts'
import type { ConfigurationValue, Right } from './schema/configuration-schema.ts'

/** The file's value. The keys that are not redefined below are as the schema describes them. */
type Written = DeepReadonly<ConfigurationValue>
type WrittenAgents = Written['agents']
type WrittenDefaults = WrittenAgents['defaults']
type Named = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Keys of the file that are replaced by another setting, or that are no settings. */
type OtherHooks =
  | 'token'
  | 'bodyTimeout'
  | 'transforms'
  | 'reload'
  | 'presets'
  | 'endpoints'
  | 'mappings'
  | 'gmail'

export interface Settings extends Pick<Written, 'channels' | 'plugins'> {
  /** The absolute path of the configuration file. */
  readonly file: string
  /** `dataDir` is absolute. */
  readonly gateway: Omit<Written['gateway'], 'auth' | 'metrics' | 'trustedProxies'> & {
    /** All of them are valid, and commands use the first; several during rotation. Empty: there is no admin API. */
    readonly tokens: readonly string[]
    /** Who has the token at the same place of `tokens`, and what they may do. */
    readonly holders: readonly { readonly name: string; readonly may: Right }[]
    /** Tokens that open the metrics alone. */
    readonly metricsTokens: readonly string[]
    /** The proxies whose reports about their clients' addresses are trusted. */
    readonly trustedProxies: readonly AddressRange[]
  }
  /** `path` starts with `/` and has no trailing slash. Folders are absolute. */
  readonly hooks: Omit<Written['hooks'], OtherHooks> & {
    /** All of them are valid; several during rotation. */
    readonly tokens: readonly string[]
    /** How long a sender may take for its body. */
    readonly bodyTimeoutMs: number
    readonly transforms: {
      readonly defaults: TransformLimits
      /** Limits by module. `defaults` has the values that are not set for a module. */
      readonly modules: Readonly<Record<string, Partial<TransformLimits>>>
    }
    readonly reload: Omit<Written['hooks']['reload'], 'debounce' | 'rest'> & {
      readonly debounceMs: number
      readonly restMs: number
    }
  }
  readonly history: Omit<Written['history'], 'keep' | 'ignored' | 'maxBodyBytes'> & {
    readonly keepMs: number
    readonly ignoredMs: number
    readonly maxBodyBytes: number
  }
  readonly agents: Omit<WrittenAgents, 'defaults' | 'sessions' | 'runners'> & {
    readonly defaults: Omit<WrittenDefaults, 'models' | 'heartbeat' | 'retry'> & {
      /** Maps an alias to its model. Absent: any model is allowed. */
      readonly models?: ModelRules
      readonly heartbeat: Omit<WrittenDefaults['heartbeat'], 'every' | 'quietHours'> & {
        readonly everyMs: number
        /** The hours in which the timer starts no turn. */
        readonly quietHours?: QuietHours
      }
      /** What happens to a turn that failed and may succeed later. */
      readonly retry: Pick<WrittenDefaults['retry'], 'attempts'> & {
        /** The wait before the second attempt. It doubles for each further attempt, give or take a third. */
        readonly firstMs: number
        readonly mostMs: number
      }
    }
    readonly sessions: Omit<WrittenAgents['sessions'], 'idleExpiry'> & {
      /** How long a session with a generated key lives. */
      readonly idleMs: number
    }
    /** Further runners by name, with the configuration of each, for its plugin to validate. */
    readonly runners: Named
  }
  readonly deliveries: Omit<Written['deliveries'], 'retryFor'> & {
    /** How long a delivery is tried before it is parked, from its first attempt on. */
    readonly retryForMs: number
  }
  /**
   * The configuration of each source by name, for its plugin to validate. That of `gmail` is `hooks.gmail` without the
   * keys for the preset.
   */
  readonly sources: Named
}

/** The limits on the cost of runs in one day (UTC). At least one of the keys is present. */
export type Budget = NonNullable<Settings['agents']['budget']>

/** The time from `from` until `to`, which may be on the next day. */
export interface QuietHours {
  /** Minutes after midnight. */
  readonly from: number
  /** Minutes after midnight. */
  readonly to: number
  /** An IANA name. */
  readonly timezone: string
}

export interface TransformLimits {
  /** How long one call may take. */
  readonly timeoutMs: number
  /** How much memory one worker may use. */
  readonly memoryMb: number
  /** The number of concurrent calls of one module. */
  readonly concurrency: number
}

export interface ModelRules {
  /** The allowed texts `<provider>/<model>`. */
  readonly allowed: readonly string[]
  /** Maps an alias to one of `allowed`. */
  readonly aliases: Readonly<Record<string, string>>
}

export type LogLevel = Settings['gateway']['log']['level']
