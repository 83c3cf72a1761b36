/** Tests that a `dedupe.key` which several events share is seen: in the records of what it drops, and as an issue. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssueRecord, Page, RequestRecord } from '../../runtime/store/port.ts'
import { install, until } from '../installation.ts'

const files = {
  'mappings/push.yaml': `mappings:
  - { id: push, match: { path: push }, deliver: false, message: "{{n}}", dedupe: { key: repository } }
`,
}

test('a duplicate of a coarse key names the original and reports that the bodies differ, and the fifth opens an issue', async (t) => {
  const { post, read } = await install(t, files)
  const send = async (n: number) =>
    String((await post('/hooks/push', { repository: 'acme/api', n })).body['requestId'])
  const first = await send(0)
  const record = async (id: string) => read<RequestRecord>(`/api/requests/${id}`)
  const same = (await post('/hooks/push', { repository: 'acme/api', n: 0 })).headers['x-request-id']
  assert.equal((await record(String(same))).reason, `it came before, in request ${first}`)
  for (let n = 1; n <= 5; n += 1) {
    const { headers } = await post('/hooks/push', { repository: 'acme/api', n })
    const { outcome, reason } = await record(String(headers['x-request-id']))
    assert.deepEqual(
      [outcome, reason],
      [
        'duplicate',
        `its \`dedupe.key\` of mapping "push" has the value that it had in request ${first}, but the bodies differ`,
      ],
    )
  }
  const issue = await until(async () => {
    const { items } = await read<Page<IssueRecord>>('/api/issues?state=open')
    return items.find(({ code }) => code === 'DEDUPE_TOO_COARSE')
  }, 'the issue')
  assert.deepEqual([issue.subject, issue.count], ['push', 1])
  assert.doesNotMatch(issue.cause, /acme/, 'no word of the sender')
})
