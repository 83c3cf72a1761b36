/** Owns fetching one mail, and telling a mail that Google does not give out from a Google that gives out none. */

import { isPluginError, PluginError } from '@reveille/kit'
import type { RawMessage } from '../google/port.ts'
import { isWanted, labelsOf, type MailItem, readMail } from '../mail/index.ts'
import { needsConsent, retry, whatPasses } from './retrying.ts'
import type { Watched } from './watched.ts'

/** Before a mail is blamed. */
const mostTries = 5
/** The same, where Google says that it may pass: some mails never get another answer. Two minutes. */
const mostPatientTries = 8
/** Where so many mails are refused, all wait for what may pass: it is not these mails. */
const mostSuspects = 100

/** `missing`: Google has none of that id. `unwanted`: nobody is to be told of it, as it is not wanted (any more). */
export type Fetched =
  | { readonly is: 'mail'; readonly mail: MailItem }
  | { readonly is: 'missing' | 'unwanted' }
  | { readonly is: 'refused'; readonly code: string }

/** @throws what every other mail would meet too, and a person has to mend */
export function fetchMail(watched: Watched, id: string, signal: AbortSignal): Promise<Fetched> {
  const { config, cursor, gmail } = watched
  let tries = 0
  let patientTries = 0

  async function ask(inner: AbortSignal): Promise<Fetched> {
    try {
      return read(watched, id, await gmail.message(id, { text: config.includeBody }, inner))
    } catch (error) {
      if (inner.aborted || needsConsent(error) || !isPluginError(error)) throw error
      if (whatPasses(error)) {
        patientTries += 1
        if (patientTries < mostPatientTries || !canBeOfThisMail(error)) throw error
      } else {
        tries += 1
        if (tries < mostTries) throw oncemore(error)
      }
      // Where the mailbox cannot be asked either this throws, and no mail is to blame.
      await gmail.profile(inner)
      return { is: 'refused', code: `GOOGLE_${error.code.toUpperCase().replaceAll('-', '_')}` }
    }
  }

  function canBeOfThisMail({ code }: PluginError): boolean {
    const { refused } = cursor.get()
    return (
      code !== 'rate-limited' && (refused.length < mostSuspects || refused.some((mail) => mail.id === id))
    )
  }

  return retry(watched, signal, ask, { passes: (error) => !needsConsent(error) })
}

function oncemore({ message, code, retryAfter }: PluginError): PluginError {
  return new PluginError(message, { code, retryable: true, retryAfter })
}

function read(watched: Watched, id: string, raw: RawMessage | undefined): Fetched {
  const { config, label } = watched
  try {
    if (raw === undefined) return { is: 'missing' }
    if (!isWanted(raw, label, config.exclude)) {
      tellLeftOut(watched, id, raw)
      return { is: 'unwanted' }
    }
    return { is: 'mail', mail: { ...readMail(raw, config), id } }
  } catch {
    // A mail on which our own reading stumbles blocks nobody, and another version may read it.
    return { is: 'refused', code: 'UNREADABLE' }
  }
}

/** Somebody may look for what became of it. */
function tellLeftOut({ log, status }: Watched, id: string, raw: RawMessage): void {
  log.info('gmail-mail-left-out', { id, labels: labelsOf(raw).join(', ') })
  status.count('leftOut', status.counted('leftOut') + 1)
}
