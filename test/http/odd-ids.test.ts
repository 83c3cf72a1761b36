/** Tests that every route which names a record answers an id that nothing has, or that is none, with 4xx, on both stores alike. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testPostgres } from '../../plugins/postgres/testing/index.ts'
import type { RouteDeclaration } from '../../runtime/api/routes/declaration.ts'
import { routes } from '../../runtime/api/routes/index.ts'
import { atEnd } from '../at-end.ts'
import { configuration, install } from '../installation.ts'

const ids = [
  'x',
  "'",
  '%00',
  '%F0%9F%92%A9',
  '0'.repeat(500),
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  '01a220f7-ce5e-7000-bfeb-8a7f61927a30',
  '01A220F7-CE5E-7000-BFEB-8A7F61927A30',
  '01a220f7ce5e7000bfeb8a7f61927a30',
]

const named = Object.entries<RouteDeclaration>(routes).filter(([, { path }]) => path.includes(':'))

/** The answer of each route for each id, as `METHOD path status code`. */
async function answersOf(t: TestContext, store: string): Promise<readonly string[]> {
  const { ask } = await install(t, {
    'reveille.yaml': configuration.replace('gateway: {', `gateway: { store: "${store}",`),
  })
  const answers: string[] = []
  for (const [, { method, path, body }] of named) {
    for (const id of ids) {
      const url = `/api${path.replace(/:\w+/g, id)}`
      const { status, body: answer } = await ask(url, { method, ...(body && { payload: '{}' }) })
      answers.push(`${method} ${url} ${status} ${answer['code'] ?? ''}`)
    }
  }
  return answers
}

test('an odd id is 4xx at every route, and the same on SQLite and PostgreSQL', async (t) => {
  const database = await testPostgres()
  atEnd(t, () => database.drop())
  const onSqlite = await answersOf(t, 'sqlite')
  assert.ok(named.length > 15, 'the routes are found')
  assert.deepEqual(
    onSqlite.filter((answer) => / 5\d\d /.test(answer)),
    [],
  )
  assert.deepEqual(await answersOf(t, database.url), onSqlite)
})
