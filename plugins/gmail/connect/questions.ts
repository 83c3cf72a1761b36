/** Asks for the settings that no option, configuration or earlier setup provides. */

import { readFile } from 'node:fs/promises'
import {
  asRecord,
  asString,
  type ConnectCall,
  type Facts,
  parseJson,
  permanentError,
  type Question,
} from '@reveille/kit'
import { readStored } from './client.ts'

const checkAddress = (answer: string) =>
  /^[^\s@]+@[^\s@]+$/.test(answer) ? undefined : 'It must be an address such as ada@example.com.'

/** Returns the options, completed by the answers. @throws PluginError `bad-option`; any error of a question */
export async function askForMissing({ config, requested, storage, person }: ConnectCall): Promise<Facts> {
  const { clientFile, ...options } = requested
  const all: Record<string, unknown> = { ...options }
  if (clientFile !== undefined) {
    const { client, problem } = await readClientFile(String(clientFile))
    if (problem !== undefined) throw permanentError('bad-option', `--client-file ${clientFile}: ${problem}`)
    all['client'] = client
  }
  const { questions } = person
  if (questions === undefined) return all
  const isMissing = (key: string) => all[key] === undefined && config[key] === undefined
  const isNewSetup = Object.keys(config).every((key) => key === 'baseUrls')
  const ask = async (key: string, question: Question) => {
    all[key] ??= await questions.text(question)
  }

  const client = await readStored(storage, 'client')
  const credentials = await readStored(storage, 'credentials')
  if (client === undefined && credentials === undefined && all['client'] === undefined)
    all['client'] = await askForClient(questions)
  const account = asString(asRecord(credentials)?.['account'])
  if (isMissing('account')) {
    await ask('account', {
      message: 'The mailbox to watch',
      placeholder: account ?? 'ada@example.com',
      validate: checkAddress,
      ...(account !== undefined && { fallback: account }),
    })
  }
  if (isNewSetup && isMissing('label'))
    await ask('label', { message: 'Which label should be watched?', placeholder: 'INBOX', fallback: 'INBOX' })
  return all
}

/** Returns the content that was checked, because the file may change later. */
async function askForClient(questions: NonNullable<ConnectCall['person']['questions']>): Promise<unknown> {
  let problem: string | undefined
  for (;;) {
    const message = 'The OAuth client (Desktop app): the JSON file that the Google Cloud console gave you'
    const file = await questions.path({
      message: problem === undefined ? message : `${problem} Which file?`,
      placeholder: 'client_secret.json',
    })
    const found = await readClientFile(file)
    if (found.problem === undefined) return found.client
    problem = `${file}: ${found.problem}`
  }
}

/** Maximum length of a client file, in characters. Real ones are far shorter. */
const maxClientLength = 64 * 1024

/** Returns the content of the file, or a sentence that says why it cannot be used and quotes nothing of it. */
async function readClientFile(file: string): Promise<{ client?: unknown; problem?: string }> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { problem: 'There is no such file.' }
    if (code === 'EISDIR') return { problem: 'It is a folder: name the file in it.' }
    return { problem: `It cannot be read (${code ?? 'unknown'}).` }
  }
  const advice = 'It must be the JSON that the Google Cloud console gives to download.'
  if (text.length > maxClientLength) return { problem: advice }
  // Editors on Windows put a byte order mark before it.
  const client = parseJson(text.replace(/^\ufeff/, ''))
  if (client === undefined) return { problem: `It is not JSON. ${advice}` }
  return asRecord(client) === undefined ? { problem: advice } : { client }
}
