/** The settings of a valid configuration: defaults filled in, references resolved, paths absolute, times in milliseconds. */

import type { AddressRange } from './address-range.ts'
import type { DeepReadonly } from './freeze-deep.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'

/** The file's value. What is not named again below is as the schema describes it. */
type Written = DeepReadonly<ConfigurationValue>
type WrittenAgents = Written['agents']
type WrittenDefaults = WrittenAgents['defaults']
type Named = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Keys of the file that another setting stands for, or that are no settings. */
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
  /** Absolute path of the configuration file. */
  readonly file: string
  /** `dataDir` is absolute. */
  readonly gateway: Omit<Written['gateway'], 'auth' | 'trustedProxies'> & {
    /** All of them are good, and commands show the first; several while rotating. None: there is no admin surface. */
    readonly tokens: readonly string[]
    /** The proxies whose word about the addresses of their clients is believed. */
    readonly trustedProxies: readonly AddressRange[]
  }
  /** `path` starts with `/` and has no trailing slash. Folders are absolute. */
  readonly hooks: Omit<Written['hooks'], OtherHooks> & {
    /** All of them are good; several while rotating. */
    readonly tokens: readonly string[]
    /** How long a sender may take for its body. */
    readonly bodyTimeoutMs: number
    readonly transforms: {
      readonly defaults: TransformLimits
      /** Limits by module; what is not set for a module is in `defaults`. */
      readonly modules: Readonly<Record<string, Partial<TransformLimits>>>
    }
    readonly reload: Omit<Written['hooks']['reload'], 'debounce'> & { readonly debounceMs: number }
  }
  readonly history: Omit<Written['history'], 'keep'> & { readonly keepMs: number }
  readonly agents: Omit<WrittenAgents, 'defaults' | 'sessions' | 'runners'> & {
    readonly defaults: Omit<WrittenDefaults, 'models' | 'heartbeat' | 'retry'> & {
      /** Alias -> model. Absent: any model is allowed. */
      readonly models?: ModelRules
      readonly heartbeat: Omit<WrittenDefaults['heartbeat'], 'every' | 'quietHours'> & {
        readonly everyMs: number
        /** The hours in which the timer asks nothing. */
        readonly quietHours?: QuietHours
      }
      /** What becomes of a turn that failed and may succeed later. */
      readonly retry: Pick<WrittenDefaults['retry'], 'attempts'> & {
        /** Before the second attempt; doubled for each one after that, give or take a third. */
        readonly firstMs: number
        readonly mostMs: number
      }
    }
    readonly sessions: Omit<WrittenAgents['sessions'], 'idleExpiry'> & {
      /** How long a session lives whose key the gateway made. */
      readonly idleMs: number
    }
    /** More runners by name: the configuration of each, for its plugin to validate. */
    readonly runners: Named
  }
  readonly deliveries: Omit<Written['deliveries'], 'retryFor'> & {
    /** How long a delivery is tried before it is parked, from its first try on. */
    readonly retryForMs: number
  }
  /**
   * By name: the configuration of each, for its plugin to validate. `hooks.gmail` is that of `gmail`, without what it says
   * of the preset.
   */
  readonly sources: Named
}

/** What runs may cost in one day (UTC). At least one of the two keys is there. */
export type Budget = NonNullable<Settings['agents']['budget']>

/** From `from` until `to`, which may lie on the next day. */
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
  /** How much one worker may use. */
  readonly memoryMb: number
  /** Calls of one module under way at one time. */
  readonly concurrency: number
}

export interface ModelRules {
  /** `<provider>/<model>` texts that are allowed. */
  readonly allowed: readonly string[]
  /** Alias -> one of `allowed`. */
  readonly aliases: Readonly<Record<string, string>>
}

export type LogLevel = Settings['gateway']['log']['level']
