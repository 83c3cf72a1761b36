/** Finds the OAuth client of this setup: the one whose JSON file is given, else the one of the last setup. */

import { isDeepStrictEqual } from 'node:util'
import {
  asRecord,
  asString,
  type ConnectCall,
  parseJson,
  permanentError,
  type SourceStorage,
} from '@reveille/kit'
import { hasCode } from './failure.ts'

/** The OAuth client. It is stored as `client`. */
export interface Client {
  readonly id: string
  /** Desktop apps cannot hide their secret from their users, and Google asks for it all the same. */
  readonly secret?: string
  readonly project?: string
}

/** Stands in every refusal. https://developers.google.com/workspace/guides/create-credentials#desktop-app */
const howToCreate =
  'Create an OAuth client of the type "Desktop app" at https://console.cloud.google.com/auth/clients, download its JSON, and pass it with --client-file.'

/** Finds the client and stores a new one, so that a second run needs no file. @throws PluginError `client-missing` */
export async function findClient(call: ConnectCall, given: unknown): Promise<Client> {
  const stored = await knownClient(call.storage)
  const client = given === undefined ? stored : parseClient(given)
  if (client === undefined) throw permanentError('client-missing', `There is no OAuth client. ${howToCreate}`)
  const isKnown = isDeepStrictEqual(client, stored)
  if (!isKnown) await call.storage.write('client', client)
  call.report({
    step: 'client',
    outcome: isKnown ? 'unchanged' : 'done',
    detail: `The OAuth client ${client.project === undefined ? client.id : `of the project ${client.project}`} asks for the consent.`,
  })
  return client
}

async function knownClient(storage: SourceStorage): Promise<Client | undefined> {
  const client = asRecord(await readStored(storage, 'client'))
  const id = asString(client?.['id'])
  if (id !== undefined) return toClient(id, client?.['secret'], client?.['project'])
  const credentials = asRecord(await readStored(storage, 'credentials'))
  const clientId = asString(credentials?.['clientId'])
  return clientId === undefined ? undefined : toClient(clientId, credentials?.['clientSecret'])
}

function toClient(id: string, secret: unknown, project?: unknown): Client {
  return {
    id,
    ...(typeof secret === 'string' && { secret }),
    ...(typeof project === 'string' && { project }),
  }
}

/** Reads a stored value. A damaged value counts as missing, because it can be asked for again. */
export async function readStored(storage: SourceStorage, name: string): Promise<unknown> {
  try {
    return await storage.read(name)
  } catch (error) {
    if (hasCode(error, 'kept-damaged')) return undefined
    throw error
  }
}

/** Reads the content of a client file. @throws PluginError `bad-client-file`, which quotes nothing of the file */
function parseClient(content: unknown): Client {
  const file = asRecord(typeof content === 'string' ? parseJson(content) : content)
  if (file === undefined) throw refused('The client file is no JSON object.')
  if (file['web'] !== undefined)
    throw refused(
      'The client file is of an OAuth client of the type "Web application", which Google sends to no loopback address.',
    )
  if (file['type'] === 'service_account')
    throw refused('The client file is the key of a service account, which has no mailbox.')
  if (file['type'] === 'authorized_user')
    throw refused('The client file holds credentials of a person, as gcloud keeps them, and no OAuth client.')
  const installed = asRecord(file['installed'])
  if (installed === undefined) throw refused('The client file is not what the Google Cloud console gives.')

  const id = asString(installed['client_id'])
  if (id === undefined || !/^[\w.-]{1,255}$/.test(id))
    throw refused('The client file has no good `client_id`.')
  const secret = asString(installed['client_secret'])
  const project = asString(installed['project_id'])
  return { id, ...(secret && { secret }), ...(project && { project }) }
}

function refused(reason: string) {
  return permanentError('bad-client-file', `${reason} ${howToCreate}`)
}
