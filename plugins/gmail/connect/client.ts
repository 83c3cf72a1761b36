/** Owns which OAuth client speaks for us: the one that is given, else the one of last time. */

import { isDeepStrictEqual } from 'node:util'
import { type ConnectCall, recordOf, type SourceStorage, textOf } from '@reveille/kit'
import { type Client, howToCreate, parseClient } from './client-file.ts'
import { hasCode, setupError } from './failure.ts'

/** Writes down one that is given, so that a second run needs no file. @throws PluginError `client-missing` */
export async function findClient(call: ConnectCall, given: unknown): Promise<Client> {
  const known = await knownClient(call.storage)
  const client = given === undefined ? known : parseClient(given)
  if (client === undefined) throw setupError('client-missing', `There is no OAuth client. ${howToCreate}`)
  const isKnown = isDeepStrictEqual(client, known)
  if (!isKnown) await call.storage.write('client', client)
  call.report({
    step: 'client',
    outcome: isKnown ? 'unchanged' : 'done',
    detail: `The OAuth client ${client.project === undefined ? client.id : `of the project ${client.project}`} asks for the consent.`,
  })
  return client
}

async function knownClient(storage: SourceStorage): Promise<Client | undefined> {
  const client = recordOf(await readStored(storage, 'client'))
  const id = textOf(client?.['id'])
  if (id !== undefined) return pick(id, client?.['secret'], client?.['project'])
  const credentials = recordOf(await readStored(storage, 'credentials'))
  const clientId = textOf(credentials?.['clientId'])
  return clientId === undefined ? undefined : pick(clientId, credentials?.['clientSecret'])
}

function pick(id: string, secret: unknown, project?: unknown): Client {
  return {
    id,
    ...(typeof secret === 'string' && { secret }),
    ...(typeof project === 'string' && { project }),
  }
}

/** What is damaged can be asked for anew. */
export async function readStored(storage: SourceStorage, name: string): Promise<unknown> {
  try {
    return await storage.read(name)
  } catch (error) {
    if (hasCode(error, 'kept-damaged')) return undefined
    throw error
  }
}
