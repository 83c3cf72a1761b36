/** Owns finding the label whose mails count, as the watch will find it. */

import type { ConnectCall } from '@reveille/kit'
import type { Gmail, Label } from '../google/port.ts'
import { findLabel, nearestNames } from '../watch/label.ts'
import { ask } from './asking.ts'
import { setupError } from './failure.ts'

const mostNamed = 10

/** @throws PluginError `no-label` */
export async function chooseLabel(call: ConnectCall, gmail: Gmail, wanted: string): Promise<Label> {
  const labels = await ask(call, () => gmail.labels(call.signal))
  const found = findLabel(labels, wanted)
  if (found === undefined)
    throw setupError('no-label', `There is no label ${JSON.stringify(wanted)}. ${near(labels, wanted)}`)
  call.report({ step: 'label', outcome: 'unchanged', detail: `Mails with the label ${found.name} count.` })
  return found
}

function near(labels: readonly Label[], wanted: string): string {
  if (labels.length === 0) return 'Make one in Gmail, or pass --label INBOX.'
  const names = nearestNames(labels, wanted).slice(0, mostNamed)
  const rest = labels.length - names.length
  return `Pass one with --label: ${names.join(', ')}${rest === 0 ? '' : `, or one of ${rest} more`}.`
}
