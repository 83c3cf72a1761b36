/** Fetches one mail, and distinguishes a mail that Google does not give out from a Google that gives out none. */

import { isPluginError, type PluginError, transientError } from '@reveille/kit'
import type { RawMessage } from '../google/port.ts'
import { isWanted, labelsOf, type MailItem, readMail } from '../mail/index.ts'
import type { WatchContext } from './context.ts'
import { isTransient, needsConsent, retry } from './retry.ts'

/** After this many permanent refusals the mail is to blame. */
const maxTries = 5
/** The same for refusals that may pass, because some mails never get another answer. This takes two minutes. */
const maxTransientTries = 8
/** If this many mails are refused, the mails are not to blame, and all wait. */
const maxBlamed = 100

/** `missing`: Google has no mail of that id. `unwanted`: the mail is not wanted, or not any more. */
export type Fetched =
  | { readonly kind: 'mail'; readonly mail: MailItem }
  | { readonly kind: 'missing' | 'unwanted' }
  | { readonly kind: 'refused'; readonly code: string }

/** Fetches a mail. @throws errors that every other mail would meet too, and that a person has to fix */
export function fetchMail(context: WatchContext, id: string, signal: AbortSignal): Promise<Fetched> {
  const { config, cursor, gmail } = context
  let tries = 0
  let transientTries = 0

  async function ask(inner: AbortSignal): Promise<Fetched> {
    try {
      return read(context, id, await gmail.message(id, { text: config.includeBody }, inner))
    } catch (error) {
      if (inner.aborted || needsConsent(error) || !isPluginError(error)) throw error
      if (isTransient(error)) {
        transientTries += 1
        if (transientTries < maxTransientTries || !canBlameMail(error)) throw error
      } else {
        tries += 1
        const { code, message, retryAfter } = error
        if (tries < maxTries) throw transientError(code, message, { retryAfter })
      }
      // If the mailbox does not answer either, this throws, and no mail is to blame.
      await gmail.profile(inner)
      return { kind: 'refused', code: `GOOGLE_${error.code.toUpperCase().replaceAll('-', '_')}` }
    }
  }

  function canBlameMail({ code }: PluginError): boolean {
    const { refused } = cursor.get()
    return code !== 'rate-limited' && (refused.length < maxBlamed || refused.some((mail) => mail.id === id))
  }

  return retry(context, signal, ask, (error) => !needsConsent(error))
}

function read(context: WatchContext, id: string, raw: RawMessage | undefined): Fetched {
  const { config, label } = context
  try {
    if (raw === undefined) return { kind: 'missing' }
    if (!isWanted(raw, label, config.exclude)) {
      recordLeftOut(context, id, raw)
      return { kind: 'unwanted' }
    }
    return { kind: 'mail', mail: { ...readMail(raw, config), id } }
  } catch {
    // A mail that our own code cannot read must not block others. Another version may read it.
    return { kind: 'refused', code: 'UNREADABLE' }
  }
}

/** Leaves a trace for an operator who looks for the mail. */
function recordLeftOut({ log, status }: WatchContext, id: string, raw: RawMessage): void {
  log.info('gmail-mail-left-out', { id, labels: labelsOf(raw).join(', ') })
  status.count('leftOut', status.counted('leftOut') + 1)
}
