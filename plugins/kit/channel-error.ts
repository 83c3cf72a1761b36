/** Creates the errors of channels with the facts that follow from their codes, and turns errors into health reports. */

import type { ChannelErrorCode, ChannelHealth, Target } from './channel.ts'
import { isPluginError, PluginError, type PluginErrorOptions } from './plugin-error.ts'
import { oneLine } from './quoting.ts'

type Facts = Partial<Omit<PluginErrorOptions, 'code'>>

/** The facts of the codes that a retry or a fixed configuration may end. All other codes are final. */
const usual: Readonly<Partial<Record<ChannelErrorCode, Facts>>> = {
  'bad-credential': { retryable: true, wholeService: true },
  'rate-limited': { retryable: true },
  unavailable: { retryable: true },
  network: { retryable: true },
  timeout: { retryable: true },
  aborted: { retryable: true },
}

/**
 * Creates an error of a channel. The code implies its facts: `bad-credential` is `retryable` and affects the `wholeService`,
 * rate limits and unavailable services are `retryable`, and everything else is final. `facts` override these.
 */
export function channelError(code: ChannelErrorCode, message: string, facts: Facts = {}): PluginError {
  return new PluginError(message, { retryable: false, ...usual[code], ...facts, code })
}

/**
 * True if a service that answers with this status has done nothing: 503 says that it cannot handle the request now (RFC 9110, section
 * 15.6.4), so a repeat doubles nothing. Any other 5xx may come after the message was accepted.
 */
export function hasDoneNothing(status: number): boolean {
  return status === 503
}

/**
 * Checks that `defaultTo` is an address, which no schema can. `parseTarget` is the channel's own.
 * @throws PluginError `bad-target` that names the key and quotes the error of `parseTarget`
 */
export function checkDefaultTo(defaultTo: string | undefined, parseTarget: (to: string) => Target): void {
  if (defaultTo === undefined) return
  try {
    parseTarget(defaultTo)
  } catch (error) {
    if (!isPluginError(error)) throw error
    throw channelError('bad-target', `\`defaultTo\` is no address. ${error.message}`, { cause: error })
  }
}

/** Maximum length of a report, in characters, since a service may return names of any length. */
const maxDetailLength = 300

/**
 * Reports the health of a channel. `check` returns a sentence that names the owner of the credential, or throws a PluginError
 * if something is wrong with the credential or the service. Any other error is thrown on.
 */
export async function healthOf(check: () => Promise<string>): Promise<ChannelHealth> {
  try {
    return { ok: true, detail: oneLine(await check(), maxDetailLength) }
  } catch (error) {
    if (!isPluginError(error)) throw error
    return { ok: false, detail: error.message }
  }
}
