import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ConnectCall, isPluginError, type Question } from '@reveille/kit'
import { askForMissing } from './questions.ts'

const client = { installed: { client_id: 'id', client_secret: 'GOCSPX-client-secret' } }

/** Answers questions by the beginning of their messages, and repeats one whose answer is refused. */
function createCall(
  answers: Readonly<Record<string, readonly string[]>>,
  facts: Partial<Pick<ConnectCall, 'config' | 'requested'>> = {},
  stored: Readonly<Record<string, unknown>> = {},
) {
  const left = Object.entries(answers).map(([start, texts]) => ({ start, texts: [...texts] }))
  const asked: string[] = []
  const next = (message: string) => {
    const answer = left
      .find(({ start, texts }) => message.startsWith(start) && texts.length > 0)
      ?.texts.shift()
    assert.ok(answer !== undefined, `nobody has an answer to: ${message}`)
    return answer
  }
  const text = async ({ message, fallback, validate }: Question): Promise<string> => {
    for (;;) {
      const answer = next(message)
      if (answer === '' && fallback !== undefined) return fallback
      const problem = validate?.(answer)
      asked.push(problem === undefined ? message : `${answer}: ${problem}`)
      if (problem === undefined) return answer
    }
  }
  const call = {
    config: {},
    requested: {},
    storage: { read: async (name: string) => stored[name] },
    person: { questions: { text, path: text } },
    ...facts,
  } as unknown as ConnectCall
  return { call, asked, isAnswered: () => left.every(({ texts }) => texts.length === 0) }
}

async function createFiles(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-client-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'client.json'), `\ufeff${JSON.stringify(client)}`)
  await writeFile(join(folder, 'broken.json'), '{"secret": "GOCSPX-client-secret"')
  await writeFile(join(folder, 'list.json'), '[]')
  return folder
}

test('a person is asked for what nothing says, until the answers are good', async (t) => {
  const folder = await createFiles(t)
  const [none, good] = [join(folder, 'none.json'), join(folder, 'client.json')]
  const first = createCall({
    'The OAuth client': [none],
    [`${none}: There is no such file. Which file?`]: [folder],
    [`${folder}: It is a folder`]: [good],
    'The mailbox': ['ada', 'ada@example.com'],
    'Which label': [''],
  })
  assert.deepEqual(await askForMissing(first.call), {
    client,
    account: 'ada@example.com',
    label: 'INBOX',
  })
  assert.ok(first.isAnswered())
  assert.ok(
    first.asked.includes('ada: It must be an address such as ada@example.com.'),
    first.asked.join('\n'),
  )

  const config = { account: 'ada@example.com' }
  const second = createCall({}, { config, requested: { label: 'Work' } }, { client })
  assert.deepEqual(await askForMissing(second.call), { label: 'Work' })

  const consented = createCall(
    { 'The mailbox': [''], 'Which label': ['Work'] },
    {},
    { credentials: { account: 'grace@example.com' } },
  )
  const { account } = await askForMissing(consented.call)
  assert.equal(account, 'grace@example.com', 'the account that consented before is the default')
})

test('a client file that cannot be used is bad usage, and nothing of it is quoted', async (t) => {
  const folder = await createFiles(t)
  const cases = [
    ['none.json', /There is no such file/],
    ['', /It is a folder/],
    ['broken.json', /It is not JSON/],
    ['list.json', /It must be the JSON/],
  ] as const
  for (const [name, problem] of cases) {
    const { call } = createCall({}, { requested: { clientFile: join(folder, name) } })
    await assert.rejects(askForMissing({ ...call, person: { ...call.person } }), (error) => {
      assert.ok(isPluginError(error))
      assert.equal(error.code, 'bad-option')
      assert.match(error.message, problem)
      return !error.message.includes('GOCSPX')
    })
  }
})
