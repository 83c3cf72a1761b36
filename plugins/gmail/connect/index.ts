/** Runs `reveille webhooks gmail setup`, as far as Google is concerned. */

import { type ConnectCall, type Connection, type PluginLog, permanentError } from '@reveille/kit'
import { mailEndpoint } from '../configuration.ts'
import type { Gmail, Label } from '../google/port.ts'
import { beginCursor } from '../watch/cursor.ts'
import { openCursor } from '../watch/cursor-cell.ts'
import { findLabel, nearestNames } from '../watch/label.ts'
import { ask } from './asking.ts'
import { findClient } from './client.ts'
import { obtainConsent } from './consent.ts'
import { askForMissing } from './questions.ts'
import { configurationOf, type SetupOptions, settleBaseUrls } from './setup-options.ts'

/**
 * Connects a mailbox. Each step looks first and changes what differs; a step that fails leaves the steps before it
 * done.
 */
export async function connectMailbox(call: ConnectCall): Promise<Connection> {
  const options: SetupOptions = await askForMissing(call)
  const config: SetupOptions = call.config
  const client = await findClient(call, options.client)
  const { gmail, account } = await obtainConsent({
    call,
    client,
    baseUrls: settleBaseUrls(call.config),
    account: options.account ?? config.account,
    again: options.again ?? false,
  })
  const label = await chooseLabel(call, gmail, options.label ?? config.label ?? defaultLabel)
  await storeBeginning(call, gmail, account)
  return {
    config: configurationOf(account, { ...options, label }, call.config),
    preset: mailEndpoint,
    subject: account,
    howToTry: `Send a mail to ${account}`,
    facts: { account, label },
  }
}

/** Mails count from now on, unless the mailbox has a cursor already. */
async function storeBeginning(call: ConnectCall, gmail: Gmail, account: string): Promise<void> {
  const { storage, clock, signal } = call
  const cursor = await openCursor({ storage, account, now: clock.now, log: silent })
  if (cursor.value !== undefined) return
  const { historyId } = await ask(call, () => gmail.profile(signal))
  cursor.begin(beginCursor(account, historyId, clock.now()))
  await cursor.save()
}

const silent: PluginLog = { info() {}, warn() {}, error() {} }

const defaultLabel = 'INBOX'
const maxNamed = 10

/**
 * Returns the id if the person gave the id, because it is exact; else the name, which the source looks up.
 * @throws PluginError `no-label`
 */
async function chooseLabel(call: ConnectCall, gmail: Gmail, label: string): Promise<string> {
  const labels = await ask(call, () => gmail.labels(call.signal))
  const found = findLabel(labels, label)
  if (found === undefined)
    throw permanentError(
      'no-label',
      `There is no label ${JSON.stringify(label)}. ${suggestNearest(labels, label)}`,
    )
  call.report({ step: 'label', outcome: 'unchanged', detail: `Mails with the label ${found.name} count.` })
  return label === found.id ? found.id : found.name
}

function suggestNearest(labels: readonly Label[], label: string): string {
  if (labels.length === 0) return 'Make one in Gmail, or pass --label INBOX.'
  const names = nearestNames(labels, label).slice(0, maxNamed)
  const rest = labels.length - names.length
  return `Pass one with --label: ${names.join(', ')}${rest === 0 ? '' : `, or one of ${rest} more`}.`
}
