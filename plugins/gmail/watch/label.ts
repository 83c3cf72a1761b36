/** Finds the label that an operator named, by name or id. */

import { isPluginError, permanentError, transientError } from '@reveille/kit'
import { minuteMs, secondMs } from '../durations.ts'
import type { Label } from '../google/port.ts'
import type { UnlabelledContext, WatchContext } from './context.ts'
import { isRecoverable, needsConsent, retry } from './retry.ts'

/** Maximum number of labels suggested in place of a missing one. */
const maxNames = 3

/** Ids win over names, and exact names over names in other capitals. System labels are named by their ids. */
export function findLabel(labels: readonly Label[], requested: string): Label | undefined {
  const same = (text: string) => text.toLowerCase() === requested.toLowerCase()
  return (
    labels.find(({ id }) => id === requested) ??
    labels.find(({ name }) => name === requested) ??
    labels.find(({ name }) => same(name)) ??
    labels.find(({ id }) => same(id))
  )
}

export function describeMissing(labels: readonly Label[], requested: string): string {
  const near = nearestNames(labels, requested)
    .slice(0, maxNames)
    .map((name) => JSON.stringify(name))
  const hint = near.length > 0 ? ` Nearest are ${near.join(', ')}.` : ''
  return `The mailbox has no label ${JSON.stringify(requested)}.${hint} Change \`hooks.gmail.label\`, or make the label.`
}

/** Returns the names of all labels, beginning with the nearest. */
export function nearestNames(labels: readonly Label[], requested: string): readonly string[] {
  const distance = (name: string) => editDistance(name.toLowerCase(), requested.toLowerCase())
  return labels
    .map(({ name }) => ({ name, distance: distance(name) }))
    .sort((left, right) => left.distance - right.distance)
    .map(({ name }) => name)
}

/** Counts the characters to insert, remove or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column++) {
      const changed = (row[column - 1] ?? 0) + (to[column - 1] === character ? 0 : 1)
      next.push(Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

const lookEverySeconds = minuteMs / secondMs

/** Returns the id of the label. A missing label is looked for again every minute. */
export function awaitLabel(context: UnlabelledContext, signal: AbortSignal): Promise<string> {
  const { config, gmail } = context
  const find = async (inner: AbortSignal) => {
    const labels = await gmail.labels(inner)
    const label = findLabel(labels, config.label)
    if (label) return label.id
    const message = describeMissing(labels, config.label)
    throw permanentError('no-label', message, { retryAfter: lookEverySeconds })
  }
  return retry(context, signal, find, isRecoverable)
}

/**
 * Looks the label up when Google refuses a call: it may have been deleted and made again under another id. @throws
 * PluginError `label-changed`
 */
export async function whileLabelled(
  context: WatchContext,
  perform: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await perform()
  } catch (error) {
    if (isPluginError(error) && !error.retryable && !needsConsent(error)) {
      const label = await awaitLabel(context, signal)
      if (label !== context.label) throw transientError('label-changed', 'The label is another one.')
    }
    throw error
  }
}

export function isLabelChanged(error: unknown): boolean {
  return isPluginError(error) && error.code === 'label-changed'
}
