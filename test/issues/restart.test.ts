/** Tests that issues outlast a restart, and that what was fixed meanwhile is over after it. */

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { IssueRecord } from '../../runtime/store/port.ts'
import { configuration, createFolder, type Installation, install, until } from '../installation.ts'

const silent = configuration.replace('log: {', 'issues: { notify: false }, log: {')

const mappings = `mappings:
  - { id: order, match: { path: orders }, action: wake, text: "An order." }
`

test('issues outlast a restart: those fixed meanwhile are resolved, and the rest can still end', async (t) => {
  const folder = await createFolder(t, { 'reveille.yaml': silent, 'mappings/orders.yaml': mappings })
  const openKeys = async ({ read }: Installation) =>
    (await read<{ items: IssueRecord[] }>('/api/issues?state=open')).items.map(({ key }) => key).sort()
  const untilKeys = (installed: Installation, wanted: readonly string[]) =>
    until(
      async () => JSON.stringify(await openKeys(installed)) === JSON.stringify(wanted) || undefined,
      `the issues ${wanted}`,
    )

  const before = await install(t, {}, { folder })
  await before.post('/hooks/orders', {}, { authorization: 'Bearer not-the-token-of-this-gateway' })
  await before.write('mappings/broken.yaml', 'mappings: [{ mesage: x }]\n')
  await before.ask('/api/reload', { method: 'POST' })
  await untilKeys(before, ['RELOAD_REFUSED:files', 'TOKEN_REFUSED:orders'])
  // Changes of the last second are written as well.
  await before.gateway.close({ graceMs: 0 })
  await rm(join(folder, 'mappings/broken.yaml'))

  const after = await install(t, {}, { folder })
  assert.deepEqual(await openKeys(after), ['RELOAD_REFUSED:files', 'TOKEN_REFUSED:orders'])
  await untilKeys(after, ['TOKEN_REFUSED:orders'])
  await after.post('/hooks/orders', {})
  await untilKeys(after, [])
  const { items } = await after.read<{ items: { text: string }[] }>('/api/events')
  assert.deepEqual(
    items.filter(({ text }) => text.startsWith('An issue')),
    [],
  )
})
