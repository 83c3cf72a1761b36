/** `reveille webhooks gmail setup`, as far as Google is concerned. */

import type { ConnectCall, Connection } from '@reveille/kit'
import { pushEndpoint } from '../configuration.ts'
import { findClient } from './client.ts'
import { obtainConsent } from './consent.ts'
import { openDoor } from './door.ts'
import { chooseLabel } from './label.ts'
import { nameResources } from './names.ts'
import { checkPush } from './push.ts'
import { configurationOf, settle, settleBaseUrls } from './settings.ts'
import { ensureSubscription } from './subscription.ts'
import { ensurePublisher, ensureTopic } from './topic.ts'
import { readWanted } from './wanted.ts'
import { ensureWatch } from './watch.ts'

export type { Wanted } from './wanted.ts'

/** Each step looks first and changes what differs; one that fails leaves those before it done. */
export async function connectMailbox(call: ConnectCall, enter = openDoor): Promise<Connection> {
  const wanted = readWanted(call.wanted)
  const config = readWanted(call.config, 'hooks.gmail')
  const settings = settle(wanted, config)
  const baseUrls = settleBaseUrls(wanted, config)
  checkPush(wanted, settings.mode, config.mode)

  const client = await findClient(call, wanted.client)
  const names = nameResources(wanted, config, client)
  const { google, account, isNew } = await obtainConsent({
    call,
    door: await enter(),
    client,
    baseUrls,
    account: wanted.account ?? config.account,
    again: wanted.again ?? false,
  })
  const { gmail, pubsub } = google

  const label = await chooseLabel(call, gmail, settings.label)
  const isMade = await ensureTopic(call, pubsub, names.topic)
  const isGranted = await ensurePublisher(call, pubsub, names.topic)
  const push = await ensureSubscription(call, pubsub, { names, mode: settings.mode, wanted })
  const isFresh = isNew || isMade || isGranted
  await ensureWatch(call, gmail, { account, topic: names.topic, labelId: label.id, isFresh })

  const verify = push && {
    provider: 'google-pubsub',
    audience: push.audience,
    serviceAccount: push.serviceAccount,
  }
  return {
    config: configurationOf(
      { account, names, settings: { ...settings, label: labelToWrite(settings.label, label) } },
      wanted,
      call.config,
    ),
    ...(verify && { endpoints: { [pushEndpoint]: { verify } } }),
    ...(!verify && config.mode === 'push' && { endpoints: { [pushEndpoint]: {} } }),
  }
}

/** As it was said, where that is exact; the watch looks for it again. */
function labelToWrite(said: string, { id, name }: { id: string; name: string }): string {
  return said === id ? id : name
}
