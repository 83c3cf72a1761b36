/** The settings of a valid configuration: defaults filled in, references resolved, paths absolute, times in milliseconds. */

import type { AddressRange } from './address-range.ts'

export interface Settings {
  /** Absolute path of the configuration file. */
  readonly file: string
  readonly gateway: {
    readonly host: string
    readonly port: number
    /** All of them are good, and commands show the first; several while rotating. None: there is no admin surface. */
    readonly tokens: readonly string[]
    /** The proxies whose word about the addresses of their clients is believed. */
    readonly trustedProxies: readonly AddressRange[]
    /** Absolute. */
    readonly dataDir: string
    readonly store: string
    readonly log: { readonly level: LogLevel; readonly format?: 'pretty' | 'json' }
    readonly limits: { readonly backlog: number }
  }
  readonly hooks: {
    readonly enabled: boolean
    /** All of them are good; several while rotating. */
    readonly tokens: readonly string[]
    /** Starts with `/`, has no trailing slash. */
    readonly path: string
    readonly allowQueryToken: boolean
    readonly allowedSessionKeyPrefixes?: readonly string[]
    /** The session key of runs whose request and mapping give none. Absent: each has a session of its own. */
    readonly defaultSessionKey?: string
    /** Whether a request to `/agent` may choose its session. */
    readonly allowRequestSessionKey: boolean
    /** What `agentId` of a request to `/wake` or `/agent` may be. Absent: anything. */
    readonly allowedAgentIds?: readonly string[]
    readonly maxBodyBytes: number
    /** How long a sender may take for its body. */
    readonly bodyTimeoutMs: number
    readonly maxActions: number
    readonly maxRenderedBytes: number
    readonly mappingsDir: string
    /** Absolute. */
    readonly transformsDir: string
    readonly transforms: {
      readonly defaults: TransformLimits
      /** Limits by module; what is not set for a module is in `defaults`. */
      readonly modules: Readonly<Record<string, Partial<TransformLimits>>>
    }
    readonly reload: { readonly requireTests: boolean; readonly debounceMs: number; readonly poll: boolean }
  }
  readonly history: { readonly bodies: 'none' | 'failed' | 'all'; readonly keepMs: number }
  readonly agents: {
    readonly defaults: {
      readonly runner: string
      readonly model?: string
      /** Alias -> model. Absent: any model is allowed. */
      readonly models?: ModelRules
      readonly systemPrompt?: string
      readonly thinking?: ThinkingLevel
      readonly timeoutSeconds: number
      readonly heartbeat: {
        readonly everyMs: number
        readonly idle: boolean
        readonly ackToken: string
        readonly prompt: string
        /** The hours in which the timer asks nothing. */
        readonly quietHours?: QuietHours
      }
      /** Runs of different session keys at one time. */
      readonly concurrency: number
      /** What becomes of a turn that failed and may succeed later. */
      readonly retry: {
        /** Turns of one run that may fail, the first included. */
        readonly attempts: number
        /** Before the second attempt; doubled for each one after that, give or take a third. */
        readonly firstMs: number
        readonly mostMs: number
      }
    }
    readonly sessions: {
      /** The longest history of a session, in characters of its messages. */
      readonly maxCharacters: number
      readonly maxMessages: number
      /** What becomes of the oldest turns when a history grows beyond that. */
      readonly compaction: 'drop' | 'summarise'
      /** How long a session lives whose key the gateway made. */
      readonly idleMs: number
    }
    /** The budget of all runs of one day (UTC). */
    readonly budget?: Budget
    /** By the name that models begin with: the configuration of each, for the runner to validate. */
    readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    /** More runners by name: the configuration of each, for its plugin to validate. */
    readonly runners: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly route?: { readonly channel: string; readonly to?: string }
  }
  /** What becomes of replies that a channel does not take at once. */
  readonly deliveries: {
    /** How long a delivery is tried before it is parked, from its first try on. */
    readonly retryForMs: number
    /** Whether what may have arrived is sent again where a repeat may double. */
    readonly retryUnsure: boolean
    /** Most messages that one reply becomes, where the channel does not say fewer. */
    readonly maxMessages: number
  }
  /** By channel name: the configuration of each, for its plugin to validate. A name that is present is configured. */
  readonly channels: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /**
   * By name: the configuration of each, for its plugin to validate. `hooks.gmail` is that of `gmail`, without what it says
   * of the preset.
   */
  readonly sources: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Extra plugin packages or absolute paths. */
  readonly plugins: readonly string[]
}

/** What runs may cost in one day (UTC). At least one of the two keys is there. */
export interface Budget {
  readonly runs?: number
  /** Input and output together. */
  readonly tokens?: number
}

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

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]
