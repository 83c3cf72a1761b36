/** Owns the one error shape that crosses the border between a plugin and its host. */

const BRAND = Symbol.for('reveille.plugin-error')

export interface PluginErrorOptions {
  /** Stable and machine-readable, kebab-case: `rate-limited`, `bad-credential`, `timeout`. */
  readonly code: string
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean
  /** Seconds to wait before the next try, as the vendor asked. Absent: the host's own backoff. */
  readonly retryAfter?: number
  /** True when the vendor may have acted although the call failed (a cut after the body went out). Default: false. */
  readonly maybeDelivered?: boolean
  /**
   * True when every other call to the service would fare the same: a credential that is refused, a limit for the whole
   * account. The host then leaves all of the channel's work alone for a while. Default: false.
   */
  readonly wholeChannel?: boolean
  readonly cause?: unknown
}

/** What a plugin throws. The message is a sentence for the operator and never carries a secret. */
export class PluginError extends Error {
  readonly [BRAND] = true
  readonly code: string
  readonly retryable: boolean
  readonly retryAfter: number | undefined
  readonly maybeDelivered: boolean
  readonly wholeChannel: boolean

  constructor(message: string, options: PluginErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'PluginError'
    this.code = options.code
    this.retryable = options.retryable
    this.retryAfter = options.retryAfter
    this.maybeDelivered = options.maybeDelivered ?? false
    this.wholeChannel = options.wholeChannel ?? false
  }
}

/** Recognised by a brand and not by class, because a plugin may bring a second copy of the kit. */
export function isPluginError(value: unknown): value is PluginError {
  return typeof value === 'object' && value !== null && BRAND in value
}
