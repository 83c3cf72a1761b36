/** Asks a person before a mailbox is set up for what is not known yet. */

import type { Examiner } from '../../plugin/index.ts'
import type { Io } from '../io.ts'
import type { Prompts, Question } from '../prompts.ts'
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
  const askForKey = async (key: string, message: string, usual: Usual) => {
    wanted[key] = await askFor(prompts, message, usual, (answer) => {
      if (answer === '' && usual.fallback !== undefined) return undefined
      return required(answer) ?? problemWith(key, answer)
    })
  }

  if (!hasClient && wanted['client'] === undefined) wanted['client'] = await askForClient(prompts, io)
  if (isUnsaid('account')) {
    const { account } = known
    const usual =
      account === undefined ? { placeholder: 'ada@example.com' } : { placeholder: account, fallback: account }
    await askForKey('account', 'The mailbox to watch', usual)
  }
  if (isFirst && isUnsaid('label'))
    await askForKey('label', 'Mails with which label count?', { placeholder: 'INBOX', fallback: 'INBOX' })
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
    const file = unquoted(await askFor(prompts, question, { placeholder: 'client_secret.json' }, required))
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
    { placeholder: 'https://hooks.example.com/hooks/gmail/push' },
    (answer) => (URL.canParse(answer) && /^https?:/.test(answer) ? undefined : 'It must begin with https://'),
  )
  wanted['pushServiceAccount'] ??= await askFor(
    prompts,
    'The service account whose tokens Google sends with notifications',
    { placeholder: 'reveille-push@project.iam.gserviceaccount.com' },
    (answer) => (/^[^\s@]+@[^\s@]+$/.test(answer) ? undefined : 'It must be the address of an account.'),
  )
}

type Usual = Pick<Question, 'placeholder' | 'fallback'>

async function askFor(
  prompts: Prompts,
  message: string,
  usual: Usual,
  problemWith: (answer: string) => string | undefined,
): Promise<string> {
  const validate = (answer: string) => problemWith(answer.trim())
  return (await prompts.text({ message, ...usual, validate })).trim()
}

function required(answer: string): string | undefined {
  return answer === '' ? 'It is required.' : undefined
}
