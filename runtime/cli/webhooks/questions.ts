/** Owns what a person is asked before a mailbox is set up: only what nothing says yet. */

import type { Examiner } from '../../plugin/index.ts'
import type { Io } from '../io.ts'
import type { Prompts } from '../prompts.ts'
import { tryClient } from './setup-options.ts'

type Values = Readonly<Record<string, unknown>>

export interface Known {
  /** By option. */
  readonly wanted: Values
  /** In the configuration. */
  readonly config: Values
  /** Whether a client is kept from a run before. */
  readonly hasClient: boolean
  /** Who consented in a run before. */
  readonly account: string | undefined
  /** Says what is wrong with a configuration. */
  readonly examine: Examiner
}

const modes = {
  'pull: the gateway asks Google; no public address is needed': 'pull',
  'push: Google posts to a public address of the gateway': 'push',
} as const

/** `wanted` with the answers. @throws CommandFailure when the person calls it off */
export async function ask(prompts: Prompts, known: Known, io: Io): Promise<Values> {
  const { config, hasClient, examine } = known
  const wanted: Record<string, unknown> = { ...known.wanted }
  const isUnsaid = (key: string) => wanted[key] === undefined && config[key] === undefined
  const isFirst = Object.keys(config).every((key) => key === 'baseUrls')
  /** By the schema of the plugin, in one sentence. */
  const complaintOf = (key: string, answer: string) => {
    const problem = examine({ ...config, [key]: answer }).find((each) => each.key === `hooks.gmail.${key}`)
    return problem && `It ${problem.message}.`
  }

  if (!hasClient && wanted['client'] === undefined) wanted['client'] = await askForClient(prompts, io)
  if (isUnsaid('account')) {
    const fallback = known.account
    const message = 'The mailbox to watch'
    const validate = (answer: string) => {
      if (answer.trim() === '') return fallback === undefined ? 'It is required.' : undefined
      return complaintOf('account', answer.trim())
    }
    const usual =
      fallback === undefined ? { placeholder: 'ada@example.com' } : { placeholder: fallback, fallback }
    wanted['account'] = (await prompts.text({ message, ...usual, validate })).trim()
  }
  if (isFirst && isUnsaid('label')) {
    const message = 'Mails with which label count?'
    const validate = (answer: string) =>
      answer.trim() === '' ? undefined : complaintOf('label', answer.trim())
    const usual = { placeholder: 'INBOX', fallback: 'INBOX' }
    wanted['label'] = (await prompts.text({ message, ...usual, validate })).trim()
  }
  if (isFirst && isUnsaid('mode')) {
    const chosen = await prompts.choose('How do notifications come?', Object.keys(modes))
    wanted['mode'] = modes[chosen as keyof typeof modes]
  }
  if (wanted['mode'] === 'push' && config['mode'] !== 'push') await askForPush(prompts, wanted)
  return wanted
}

/** The answer is read where it was checked: the file may be gone a moment later. */
async function askForClient(prompts: Prompts, io: Io): Promise<unknown> {
  for (let complaint: string | undefined; ; ) {
    const message = 'The OAuth client (Desktop app): the JSON file that the Google Cloud console gave you'
    const told = complaint === undefined ? message : `${complaint} Which file?`
    const file = unquoted(await askFor(prompts, told, 'client_secret.json', required))
    const found = await tryClient(file, io)
    if (found.complaint === undefined) return found.client
    complaint = `${file}: ${found.complaint}`
  }
}

/** A file that is dropped onto a terminal comes as a shell would want it. */
function unquoted(file: string): string {
  const [, , quoted] = /^(['"])(.+)\1$/.exec(file) ?? []
  return quoted ?? file.replaceAll('\\ ', ' ')
}

async function askForPush(prompts: Prompts, wanted: Record<string, unknown>): Promise<void> {
  wanted['pushEndpoint'] ??= await askFor(
    prompts,
    'The public address of /hooks/gmail/push',
    'https://hooks.example.com/hooks/gmail/push',
    (answer) => (URL.canParse(answer) && /^https?:/.test(answer) ? undefined : 'It must begin with https://'),
  )
  wanted['pushServiceAccount'] ??= await askFor(
    prompts,
    'The service account whose tokens Google sends with notifications',
    'reveille-push@project.iam.gserviceaccount.com',
    (answer) => (/^[^\s@]+@[^\s@]+$/.test(answer) ? undefined : 'It must be the address of an account.'),
  )
}

async function askFor(
  prompts: Prompts,
  message: string,
  placeholder: string,
  complaintOf: (answer: string) => string | undefined,
): Promise<string> {
  const validate = (answer: string) => complaintOf(answer.trim())
  return (await prompts.text({ message, placeholder, validate })).trim()
}

function required(answer: string): string | undefined {
  return answer === '' ? 'It is required.' : undefined
}
