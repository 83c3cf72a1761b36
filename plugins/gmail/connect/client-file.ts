/** Owns the JSON file of an OAuth client, as the Google Cloud console gives it to download. */

import { recordOf, textOf } from '@reveille/kit'
import { setupError } from './failure.ts'

/** SourceStorage as `client`. */
export interface Client {
  readonly id: string
  /** Desktop apps cannot keep it from their users, and Google asks for it all the same. */
  readonly secret?: string
  readonly project?: string
}

/** Stands in every refusal. https://developers.google.com/workspace/guides/create-credentials#desktop-app */
export const howToCreate =
  'Create an OAuth client of the type "Desktop app" at https://console.cloud.google.com/auth/clients, download its JSON, and pass it with --client-file.'

/** @throws PluginError `bad-client-file`, which quotes nothing of it */
export function parseClient(content: unknown): Client {
  const file = recordOf(typeof content === 'string' ? parseJson(content) : content)
  if (file === undefined) throw refused('The client file is no JSON object.')
  if (file['web'] !== undefined)
    throw refused(
      'The client file is of an OAuth client of the type "Web application", which Google sends to no loopback address.',
    )
  if (file['type'] === 'service_account')
    throw refused('The client file is the key of a service account, which has no mailbox.')
  if (file['type'] === 'authorized_user')
    throw refused('The client file holds credentials of a person, as gcloud keeps them, and no OAuth client.')
  const installed = recordOf(file['installed'])
  if (installed === undefined) throw refused('The client file is not what the Google Cloud console gives.')

  const id = textOf(installed['client_id'])
  if (id === undefined || !/^[\w.-]{1,255}$/.test(id))
    throw refused('The client file has no good `client_id`.')
  const secret = textOf(installed['client_secret'])
  const project = textOf(installed['project_id'])
  return { id, ...(secret && { secret }), ...(project && { project }) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refused(reason: string) {
  return setupError('bad-client-file', `${reason} ${howToCreate}`)
}
