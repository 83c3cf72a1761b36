/** Owns finding the label whose mails count. */

import type { ConnectCall } from '@reveille/kit'
import type { Gmail, Label } from '../google/port.ts'
import { setupError } from './failure.ts'

const mostNamed = 10

/** By id or name; in another case where only one is meant. @throws PluginError `no-label` */
export async function findLabel(call: ConnectCall, gmail: Gmail, wanted: string): Promise<Label> {
  const labels = await gmail.labels(call.signal)
  const found =
    labels.find(({ id }) => id === wanted) ??
    labels.find(({ name }) => name === wanted) ??
    only(labels.filter(({ name }) => name.toLowerCase() === wanted.trim().toLowerCase()))
  if (found === undefined)
    throw setupError('no-label', `There is no label ${JSON.stringify(wanted)}. ${near(labels, wanted)}`)
  call.told({ step: 'label', outcome: 'unchanged', detail: `Mails with the label ${found.name} count.` })
  return found
}

function only(labels: readonly Label[]): Label | undefined {
  return labels.length === 1 ? labels[0] : undefined
}

function near(labels: readonly Label[], wanted: string): string {
  if (labels.length === 0) return 'Make one in Gmail, or pass --label INBOX.'
  const names = labels
    .map(({ name }) => ({ name, distance: distanceOf(name.toLowerCase(), wanted.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, mostNamed)
    .map(({ name }) => name)
  const rest = labels.length - names.length
  return `Pass one with --label: ${names.join(', ')}${rest === 0 ? '' : `, or one of ${rest} more`}.`
}

/** Letters to be added, left out or changed. Labels have at most 225 letters; only the first count here. */
function distanceOf(left: string, right: string): number {
  const [from, to] = [left.slice(0, 60), right.slice(0, 60)]
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let at = 1; at <= from.length; at += 1) {
    const above = row
    row = [at]
    for (let index = 1; index <= to.length; index += 1) {
      const change = (above[index - 1] ?? 0) + (from[at - 1] === to[index - 1] ? 0 : 1)
      row.push(Math.min(change, (above[index] ?? 0) + 1, (row[index - 1] ?? 0) + 1))
    }
  }
  return row.at(-1) ?? 0
}
