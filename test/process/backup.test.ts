/** Tests that a backup of a running gateway is a store of its own. */

import assert from 'node:assert/strict'
import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, test } from 'node:test'
import { atEnd } from '../at-end.ts'
import { createSender } from '../durability/sender.ts'
import { configuration, createFolder, gatewayToken, hookToken, install } from '../installation.ts'
import { build, limit, runReveille, startReveille } from './reveille-process.ts'

before(build)

test(
  '`store backup` of a gateway under load opens, passes its check and contains what was acknowledged',
  limit,
  async (t) => {
    const folder = await createFolder(t, { 'reveille.yaml': configuration })
    const gateway = await startReveille(t, folder)
    let count = 0
    const next = () => {
      count += 1
      return count % 2
        ? { path: '/hooks/wake', body: { text: `${count}`, mode: 'next-heartbeat' } }
        : {
            path: '/hooks/agent',
            body: { message: `${count}`, wakeMode: 'next-heartbeat', sessionKey: `hook:${count % 5}` },
          }
    }
    const sender = createSender({ url: gateway.address, token: hookToken, connections: 8, next })
    atEnd(t, () => sender.stop())
    while (sender.acknowledged.length < 200) await sender.answered()

    const held = sender.acknowledged.slice()
    const { code, out, err } = await runReveille(t, ['store', 'backup', 'copy.db'], { cwd: folder })
    assert.equal(code, 0, err)
    assert.match(out, /copy\.db/)
    const during = sender.acknowledged.length - held.length
    assert.ok(during > 0, 'the gateway went on')
    await sender.stop()
    assert.deepEqual(sender.unexpected, [])

    const again = await runReveille(t, ['store', 'backup', 'copy.db'], { cwd: folder })
    assert.deepEqual([again.code, again.out], [1, ''], 'a backup is never written over')

    const file = join(folder, 'copy.db')
    assert.equal((await stat(file)).mode & 0o077, 0, 'for the owner alone')
    const copy = new DatabaseSync(file, { readOnly: true })
    assert.deepEqual(copy.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']])
    assert.deepEqual(copy.prepare('PRAGMA foreign_key_check').all(), [])
    copy.close()

    const restored = await createFolder(t, {})
    await mkdir(join(restored, 'data'))
    await rename(file, join(restored, 'data', 'reveille.db'))
    const { read } = await install(t, {
      'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, dataDir: "${restored}/data" }\n`,
    })
    const { items } = await read<{ items: { generation: number }[] }>('/api/generations')
    assert.deepEqual(
      items.map(({ generation }) => generation),
      [2],
      'numbers go on after those that the records name',
    )
    for (const { requestId, runId, eventId } of held) {
      const { outcome } = await read<{ outcome: string }>(`/api/requests/${requestId}`)
      assert.equal(outcome, 'accepted')
      const effect = runId ? `/api/runs/${runId}` : `/api/events/${eventId}`
      assert.equal((await read<{ id: string }>(effect)).id, runId ?? eventId)
    }
    t.diagnostic(`${held.length} were acknowledged before the backup, ${during} while it was made`)
  },
)
