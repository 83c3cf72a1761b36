/** Runs `reveille webhooks gmail setup`, as far as Google is concerned. */

import { type ConnectCall, type Connection, permanentError } from '@reveille/kit'
import { mailEndpoint, pushEndpoint } from '../configuration.ts'
import type { Gmail, Label } from '../google/port.ts'
import { findLabel, nearestNames } from '../watch/label.ts'
import { ask } from './asking.ts'
import { findClient } from './client.ts'
import { obtainConsent } from './consent.ts'
import { nameResources } from './names.ts'
import { checkPush, ensurePublisher, ensureSubscription, ensureTopic } from './pubsub.ts'
import { askForMissing } from './questions.ts'
import { configurationOf, type SetupOptions, settle, settleBaseUrls } from './setup-options.ts'
import { ensureWatch } from './watch.ts'

export type { SetupOptions as Wanted } from './setup-options.ts'

/**
 * Connects a mailbox. Each step looks first and changes what differs; a step that fails leaves the steps before it
 * done.
 */
export async function connectMailbox(call: ConnectCall): Promise<Connection> {
  const options: SetupOptions = await askForMissing(call)
  const config: SetupOptions = call.config
  const settings = settle(options, config)
  const baseUrls = settleBaseUrls(options, config)
  checkPush(options, settings.mode, config.mode)

  const client = await findClient(call, options.client)
  const names = nameResources(options, config, client)
  const { google, account, isNew } = await obtainConsent({
    call,
    client,
    baseUrls,
    account: options.account ?? config.account,
    again: options.again ?? false,
  })
  const { gmail, pubsub } = google

  const label = await chooseLabel(call, gmail, settings.label)
  const isMade = await ensureTopic(call, pubsub, names.topic)
  const isGranted = await ensurePublisher(call, pubsub, names.topic)
  const push = await ensureSubscription(call, pubsub, { names, mode: settings.mode, options: options })
  const isFresh = isNew || isMade || isGranted
  const watchEnds = await ensureWatch(call, gmail, {
    account,
    topic: names.topic,
    labelId: label.id,
    isFresh,
  })

  const verify = push && {
    provider: 'google-pubsub',
    audience: push.audience,
    serviceAccount: push.serviceAccount,
  }
  return {
    config: configurationOf(
      { account, names, settings: { ...settings, label: configuredLabel(settings.label, label) } },
      options,
      call.config,
    ),
    preset: mailEndpoint,
    subject: account,
    howToTry: `Send a mail to ${account}`,
    facts: {
      account,
      project: /^projects\/([^/]+)\//.exec(names.topic)?.[1],
      ...names,
      label: configuredLabel(settings.label, label),
      mode: settings.mode,
      watchEnds,
    },
    ...(verify && { endpoints: { [pushEndpoint]: { verify } } }),
    ...(!verify && config.mode === 'push' && { endpoints: { [pushEndpoint]: {} } }),
  }
}

/** Returns the id if the person gave the id, because it is exact; else the name, which the watch looks up again. */
function configuredLabel(said: string, { id, name }: { id: string; name: string }): string {
  return said === id ? id : name
}

const maxNamed = 10

/** @throws PluginError `no-label` */
async function chooseLabel(call: ConnectCall, gmail: Gmail, label: string): Promise<Label> {
  const labels = await ask(call, () => gmail.labels(call.signal))
  const found = findLabel(labels, label)
  if (found === undefined)
    throw permanentError(
      'no-label',
      `There is no label ${JSON.stringify(label)}. ${suggestNearest(labels, label)}`,
    )
  call.report({ step: 'label', outcome: 'unchanged', detail: `Mails with the label ${found.name} count.` })
  return found
}

function suggestNearest(labels: readonly Label[], label: string): string {
  if (labels.length === 0) return 'Make one in Gmail, or pass --label INBOX.'
  const names = nearestNames(labels, label).slice(0, maxNamed)
  const rest = labels.length - names.length
  return `Pass one with --label: ${names.join(', ')}${rest === 0 ? '' : `, or one of ${rest} more`}.`
}
