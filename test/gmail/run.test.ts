import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { createStandInGoogle } from '../google/index.ts'

test('a process beside the gateway posts the mails that come, and is told to stop', async (t) => {
  const google = await createStandInGoogle({ pullWait: 50 })
  t.after(() => google.close())
  const { topic, subscription } = google.prepare()
  const posted: unknown[] = []
  const taken = new EventEmitter()
  const { start, cwd } = await createCommandLine(
    t,
    {
      'reveille.yaml': `hooks:
  enabled: true
  token: a-token-for-the-hooks
  presets: [gmail]
  gmail: ${JSON.stringify({ account: google.account, topic, subscription, baseUrls: google.baseUrls })}
`,
    },
    {
      now: Date.now,
      async fetch(url, init) {
        if (!String(url).startsWith('http://127.0.0.1:8787/hooks/gmail')) return fetch(url, init)
        posted.push(JSON.parse(String(init?.body)))
        taken.emit('taken')
        return Response.json({ ok: true, runId: '1' }, { status: 202 })
      },
    },
  )
  const folder = path.join(cwd, 'data/sources/gmail')
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'credentials.json'), JSON.stringify(google.credentials()))

  const going = start('webhooks', 'gmail', 'run', '--json')
  await going.until(/"state":"working"/)
  const isTaken = new Promise((resolve) => taken.once('taken', resolve))
  const id = google.deliver({ subject: 'Lunch?', text: 'At noon' })
  await isTaken
  await google.until(() => google.unacknowledged === 0)
  const { code, err } = await going.stop()
  assert.equal(code, 0, err)
  const [{ source, account, messages }] = posted as [
    { source: string; account: string; messages: { id: string; subject: string; body: string }[] },
  ]
  assert.deepEqual([source, account], ['gmail', google.account])
  assert.deepEqual(
    messages.map((mail) => [mail.id, mail.subject, mail.body.trim()]),
    [[id, 'Lunch?', 'At noon']],
  )
  assert.equal(posted.length, 1)
  assert.deepEqual(google.complaints, [])
})
