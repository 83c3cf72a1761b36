/** Fakes a mailbox plugin and a person at a terminal, for tests of the commands about mailboxes; used by tests only. */

import assert from 'node:assert/strict'
import type { Question } from '@reveille/kit'
import type { Prompts } from '../prompts.ts'

export const clientSecret = 'GOCSPX-client-secret'
export const refreshToken = '1//refresh-token'
export const code = '4/pasted-code'

export const clientFile = JSON.stringify({
  installed: { client_id: 'id', client_secret: clientSecret, project_id: 'harbour' },
})

/** Replaces the plugin `gmail`: it asks the person for a code, stores it, and calls no service. */
export const mailPlugin = {
  'mail/package.json': JSON.stringify({
    name: 'mail',
    type: 'module',
    exports: './index.js',
    reveille: { kit: 1, sources: ['gmail'], configSchema: './config.schema.json' },
  }),
  'mail/config.schema.json': JSON.stringify({
    type: 'object',
    properties: {
      account: { type: 'string', pattern: '^[^@]+@[^@]+$', 'x-form': 'an address' },
      label: { type: 'string', minLength: 1, default: 'INBOX' },
      harbour: { type: 'string' },
      says: { type: 'string' },
    },
    required: ['account', 'harbour'],
    additionalProperties: false,
  }),
  'mail/index.js': `
import { readFileSync } from 'node:fs'
import { PluginError } from '@reveille/kit'

export default {
  name: 'mail',
  setup: ({ config }) => ({
    sources: [{
      id: 'gmail',
      async run({ signal, post, report, limitsOf }) {
        if (config.says === 'throw') throw new PluginError('It cannot.', { code: 'broken', retryable: false })
        report({ state: 'working', detail: 'Watched.', times: { readAt: 1775000000000 } })
        const output = await post('gmail', { messages: [{ id: '1' }], limit: limitsOf('gmail').maxBodyBytes }).catch((error) => error)
        report({ state: output.status === 202 ? 'working' : 'failing', detail: 'The gateway said ' + (output.status ?? output.message) })
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    }],
  }),
  async connect({ config, requested, storage, person, report, signal }) {
    const { questions } = person
    const known = await storage.read('client')
    const { account: before } = (await storage.read('credentials')) ?? {}
    const file = requested.clientFile ?? (known ? undefined : await questions?.path({ message: 'The OAuth client' }))
    if (file === undefined && !known) throw new PluginError('There is no OAuth client.', { code: 'client-missing', retryable: false })
    if (file !== undefined) {
      try {
        await storage.write('client', JSON.parse(readFileSync(file, 'utf8')))
      } catch {
        throw new PluginError('--client-file: It is not JSON.', { code: 'bad-option', retryable: false })
      }
    }
    if (questions && !(requested.account ?? config.account))
      requested = {
        ...requested,
        account: await questions.text({
          message: 'The mailbox',
          fallback: before,
          validate: (answer) => (answer.includes('@') ? undefined : 'It must be an address.'),
        }),
      }
    report({ step: 'client', outcome: known ? 'unchanged' : 'done', detail: 'the client of harbour' })
    if ((await storage.read('credentials')) === undefined || requested.again) {
      await person.show('https://accounts.example/consent?state=1')
      const code = await person.ask('Address that the browser ends at', signal)
      if (code === 'deny') throw new PluginError('Nobody consented.', { code: 'consent-denied', retryable: false })
      await storage.write('credentials', { refreshToken: '${refreshToken}', code })
      report({ step: 'consent', outcome: 'done', detail: 'given by ada\\u001b[2J' })
    } else report({ step: 'consent', outcome: 'unchanged', detail: 'there is one' })
    const { account, label } = { ...config, ...requested }
    if (account === undefined) throw new PluginError('The account is missing.', { code: 'bad-option', retryable: false })
    await storage.write('cursor', { readAt: 1775000000000 })
    return {
      config: {
        ...config,
        account,
        harbour: 'Brest',
        ...(label && { label }),
      },
      preset: 'gmail',
      subject: account,
      howToTry: 'Send a mail to ' + account,
      facts: { account, harbour: 'Brest' },
    }
  },
}`,
}

/** A person who answers by the beginning of the question, and sees what is wrong with an answer. */
export function person(answers: Readonly<Record<string, readonly string[]>>) {
  const output: string[] = []
  const left = Object.entries(answers).map(([question, texts]): [string, string[]] => [question, [...texts]])
  const nextFor = (message: string) => {
    const [, texts] = left.find(([question, texts]) => message.startsWith(question) && texts.length > 0) ?? []
    const answer = texts?.shift()
    assert.ok(answer !== undefined, `nobody has an answer to: ${message}`)
    return answer
  }
  async function reply({ message, fallback = '', validate }: Question): Promise<string> {
    for (;;) {
      const answer = nextFor(message)
      const problem = validate?.(answer)
      if (problem === undefined) {
        output.push(`? ${message}`)
        return answer === '' ? fallback : answer
      }
      output.push(`${answer}: ${problem}`)
    }
  }
  const prompts: Prompts = {
    begin: (title) => void output.push(title),
    text: reply,
    secret: reply,
    async choose(message, choices) {
      const answer = nextFor(message)
      output.push(`? ${message}`)
      const chosen = choices.find((choice) => choice.startsWith(answer))
      assert.ok(chosen !== undefined, choices.join())
      return chosen
    },
    note: (text) => void output.push(text),
    step: (mark, text) => void output.push(`${mark} ${text}`),
    end: (text) => void output.push(text),
  }
  return {
    output,
    prompts: async () => prompts,
    isAnswered: () => left.every(([, texts]) => texts.length === 0),
  }
}
