/** Owns waiting for the label, and noticing that it is another one. */

import { isPluginError, PluginError } from '@reveille/kit'
import { minuteMs, secondMs } from '../durations.ts'
import { describeMissing, findLabel } from './label.ts'
import { needsConsent, retry, whatCanBeMended } from './retrying.ts'
import type { Unlabelled, Watched } from './watched.ts'

const lookEverySeconds = minuteMs / secondMs

/** The id. Looked for again every minute where it is not there. */
export function awaitLabel(watched: Unlabelled, signal: AbortSignal): Promise<string> {
  const { config, gmail } = watched
  const find = async (inner: AbortSignal) => {
    const labels = await gmail.labels(inner)
    const label = findLabel(labels, config.label)
    if (label) return label.id
    const message = describeMissing(labels, config.label)
    throw new PluginError(message, { code: 'no-label', retryable: false, retryAfter: lookEverySeconds })
  }
  return retry(watched, signal, find, { passes: whatCanBeMended })
}

/** What Google refuses may be refused for its label: deleted, and made anew under another id. @throws PluginError `label-changed` */
export async function whileLabelled(
  watched: Watched,
  perform: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await perform()
  } catch (error) {
    if (isPluginError(error) && !error.retryable && !needsConsent(error)) {
      const label = await awaitLabel(watched, signal)
      if (label !== watched.label)
        throw new PluginError('The label is another one.', { code: 'label-changed', retryable: true })
    }
    throw error
  }
}

export function isLabelChanged(error: unknown): boolean {
  return isPluginError(error) && error.code === 'label-changed'
}
