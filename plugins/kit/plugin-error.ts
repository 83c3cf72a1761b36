/** Defines the error that crosses the border between a plugin and its host. */

const BRAND = Symbol.for('reveille.plugin-error')

export interface PluginErrorOptions {
  /** A stable code in kebab-case, such as `rate-limited`, `bad-credential` or `timeout`. */
  readonly code: string
  /** True if the same call may succeed later without any change. */
  readonly retryable: boolean
  /** The seconds that the vendor asked to wait before a retry. Default: the host's own backoff. */
  readonly retryAfter?: number
  /** True if the vendor may have acted although the call failed, as when it was cut after the body was sent. Default: false. */
  readonly maybeDelivered?: boolean
  /**
   * True if every other call to the service would fail in the same way, as with a refused credential or a limit for the whole account, a
   * quota that is used up, or a program that is missing. The host then holds back all of the channel's deliveries or of the runner's
   * runs, none of which fails for it, and tries one of them from time to time. Default: false.
   */
  readonly wholeService?: boolean
  /** True if the connection broke off before the answer was read. Default: false. */
  readonly cutOff?: boolean
  readonly cause?: unknown
}

/** The error that a plugin throws. Its message is a sentence for the operator and never holds a secret. */
export class PluginError extends Error {
  readonly [BRAND] = true
  readonly code: string
  readonly retryable: boolean
  readonly retryAfter: number | undefined
  readonly maybeDelivered: boolean
  readonly wholeService: boolean
  readonly cutOff: boolean

  constructor(message: string, options: PluginErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'PluginError'
    this.code = options.code
    this.retryable = options.retryable
    this.retryAfter = options.retryAfter
    this.maybeDelivered = options.maybeDelivered ?? false
    this.wholeService = options.wholeService ?? false
    this.cutOff = options.cutOff ?? false
  }
}

/** True if a value is a PluginError, by a brand and not by its class, because a plugin may bring a second copy of the kit. */
export function isPluginError(value: unknown): value is PluginError {
  return typeof value === 'object' && value !== null && BRAND in value
}

type ErrorFacts = Omit<PluginErrorOptions, 'code' | 'retryable'>

/**
 * The codes of a service that cannot be reached. Retryable errors with one of them hold back the channel or the runner once nothing
 * else has been answered for a few calls, since a single call does not prove an outage.
 */
export const outageCodes: ReadonlySet<string> = new Set(['network', 'timeout', 'unavailable'])

/** Creates an error that lasts until a person changes something. */
export function permanentError(code: string, message: string, facts: ErrorFacts = {}): PluginError {
  return new PluginError(message, { ...facts, code, retryable: false })
}

/** Creates an error that may pass by itself, so that a retry can help. */
export function transientError(code: string, message: string, facts: ErrorFacts = {}): PluginError {
  return new PluginError(message, { ...facts, code, retryable: true })
}
