import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { type TestDatabase, testPostgres } from './index.ts'

async function query({ url }: Pick<TestDatabase, 'url'>, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('each test has a database of its own, which may begin as a copy of a template', async (t) => {
  let filled = 0
  const template = {
    name: 'counted',
    async fill(url: string) {
      filled += 1
      await query({ url }, 'CREATE TABLE counted AS SELECT 1 AS one')
    },
  }
  const [one, other, empty] = await Promise.all([
    testPostgres(template),
    testPostgres(template),
    testPostgres(),
  ])
  t.after(() => Promise.all([one, other, empty].map(({ drop }) => drop())))
  await query(one, 'UPDATE counted SET one = 2')
  assert.deepEqual(await query(other, 'SELECT one FROM counted'), [{ one: 1 }])
  await assert.rejects(query(empty, 'SELECT one FROM counted'), /does not exist/)
  assert.equal(filled, 1)
})

test('where there is no server a test fails with what to do about it', async () => {
  const program = `import { testPostgres } from ${JSON.stringify(import.meta.resolve('./index.ts'))}
    await testPostgres().catch(({ message }) => console.log(message))`
  const env = { ...process.env, REVEILLE_TEST_POSTGRES_URL: 'postgres://postgres@127.0.0.1:1/postgres' }
  const args = ['--input-type=module-typescript', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  assert.match(stdout, /^No PostgreSQL for the tests: .*ECONNREFUSED.*Set REVEILLE_TEST_POSTGRES_URL/)
})
