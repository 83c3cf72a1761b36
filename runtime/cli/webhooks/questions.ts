/** Asks a person before a mailbox is set up for what is not known yet. */

import type { Examiner } from '../../plugin/index.ts'
import type { Io } from '../io.ts'
import type { Prompts } from '../prompts.ts'
import { tryClient } from './setup-options.ts'

type Values = Readonly<Record<string, unknown>>

export interface Known {
  /** Values given by options. */
  readonly wanted: Values
  /** Values in the configuration. */
  readonly config: Values
  /** Whether an earlier run has stored a client. */
  readonly hasClient: boolean
  /** The account that consented in an earlier run. */
  readonly account: string | undefined
  /** Finds what is wrong with a configuration. */
  readonly examine: Examiner
}

const modes = {
  'pull: the gateway asks Google; no public address is needed': 'pull',
  'push: Google posts to a public address of the gateway': 'push',
} as const

/** `wanted` with the answers. @throws CommandFailure when the person cancels */
export async function ask(prompts: Prompts, known: Known, io: Io): Promise<Values> {
  const { config, hasClient, examine } = known
  const wanted: Record<string, unknown> = { ...known.wanted }
  const isUnsaid = (key: string) => wanted[key] === undefined && config[key] === undefined
  const isFirst = Object.keys(config).every((key) => key === 'baseUrls')
  /** What the plugin's schema finds wrong with an answer, in one sentence. */
  const problemWith = (key: string, answer: string) => {
    const problem = examine({ ...config, [key]: answer }).find((each) => each.key === `hooks.gmail.${key}`)
    return problem && `It ${problem.message}.`
  }

  if (!hasClient && wanted['client'] === undefined) wanted['client'] = await askForClient(prompts, io)
  if (isUnsaid('account')) {
    const fallback = known.account
    const message = 'The mailbox to watch'
    const validate = (answer: string) => {
      if (answer.trim() === '') return fallback === undefined ? 'It is required.' : undefined
      return problemWith('account', answer.trim())
    }
    const usual =
      fallback === undefined ? { placeholder: 'ada@example.com' } : { placeholder: fallback, fallback }
    wanted['account'] = (await prompts.text({ message, ...usual, validate })).trim()
  }
  if (isFirst && isUnsaid('label')) {
    const message = 'Mails with which label count?'
    const validate = (answer: string) =>
      answer.trim() === '' ? undefined : problemWith('label', answer.trim())
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

/** Returns the content that was checked, since the file may change a moment later. */
async function askForClient(prompts: Prompts, io: Io): Promise<unknown> {
  for (let problem: string | undefined; ; ) {
    const message = 'The OAuth client (Desktop app): the JSON file that the Google Cloud console gave you'
    const question = problem === undefined ? message : `${problem} Which file?`
    const file = unquoted(await askFor(prompts, question, 'client_secret.json', required))
    const found = await tryClient(file, io)
    if (found.problem === undefined) return found.client
    problem = `${file}: ${found.problem}`
  }
}

/** A file that is dropped onto a terminal arrives quoted for a shell. */
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
  problemWith: (answer: string) => string | undefined,
): Promise<string> {
  const validate = (answer: string) => problemWith(answer.trim())
  return (await prompts.text({ message, placeholder, validate })).trim()
}

function required(answer: string): string | undefined {
  return answer === '' ? 'It is required.' : undefined
}
