import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { listed } from '../print.ts'
import { type Check, ok, runChecks, type Subject } from './check.ts'
import { assessNodes, assessTransaction } from './checks/cluster.ts'
import { assessNode, assessSkew, assessSpace } from './checks/machine.ts'
import { NotChecked, skewOf } from './gateway-view.ts'

const subject = {} as Subject
const check = (name: string, run: Check['run']): Check => ({ name, group: 'work', title: name, run })

test('checks run side by side, and one that fails does not stop the others', async () => {
  const met = Promise.withResolvers<void>()
  const checked = await runChecks(
    [
      check('waits', () => met.promise.then(() => ok('after the other'))),
      check('meets', async () => {
        met.resolve()
        return [ok('one'), ok('two')]
      }),
      check('throws', () => {
        throw Object.assign(new Error('EACCES: permission denied, open /secret'), { code: 'EACCES' })
      }),
      check('knows why not', () => Promise.reject(new NotChecked('NO_WAY', 'there is no way'))),
    ],
    subject,
  )
  assert.deepEqual(
    checked.map(({ results }) => results.map(({ state, code, message }) => [state, code, message])),
    [
      [['ok', undefined, 'after the other']],
      [
        ['ok', undefined, 'one'],
        ['ok', undefined, 'two'],
      ],
      [['not-checked', 'CHECK_FAILED', 'EACCES']],
      [['not-checked', 'NO_WAY', 'there is no way']],
    ],
  )
})

test('a disk with less than a gigabyte or less than a twentieth free is a warning', () => {
  const GB = 1_000_000_000
  assert.deepEqual(assessSpace({ free: 50 * GB, total: 500 * GB }), ok('50.0 GB free, 10 %'))
  assert.equal(assessSpace({ free: 0.9 * GB, total: 2 * GB }).code, 'DISK_NEARLY_FULL')
  assert.match(assessSpace({ free: 4 * GB, total: 100 * GB }).message, /^4\.0 GB free, 4 %/)
  assert.equal(assessSpace({ free: 4 * GB, total: 100 * GB }).state, 'warning')
})

test('a Node.js older than 24 is a problem', () => {
  const states = ['24.0.0', '26.1.0', '22.9.0'].map((version) => assessNode(version).code)
  assert.deepEqual(states, [undefined, undefined, 'NODE_TOO_OLD'])
})

test('a difference below the second that a header leaves open is no skew, and the report names the side', () => {
  for (const [header, before, after, skew] of [
    [1_000, 1_000, 1_050, 0],
    [1_000, 1_900, 1_950, 0],
    [61_000, 1_000, 1_500, 59_500],
    [1_000, 61_000, 61_500, -59_001],
  ] as const)
    assert.equal(skewOf(header, before, after), skew)
  assert.match(assessSkew(59_500, "the gateway's clock").message, /^60 s behind the gateway's clock/)
  assert.match(assessSkew(-200_000, "the gateway's clock").message, /^200 s ahead of/)
})

test('of many names the first ones and the number of the others are listed', () => {
  assert.equal(listed(['a']), 'a')
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c')
  assert.equal(listed(['a', 'b', 'c', 'd', 'e', 'f']), 'a, b, c, d and 2 more')
})

test('every code that a check can answer is in the README, and no other', async () => {
  const here = new URL('./', import.meta.url)
  const names = await readdir(here, { recursive: true })
  const sources = names.filter((name) => name.endsWith('.ts') && !/\.test\.ts$|^signature/.test(name))
  const texts = await Promise.all(sources.map((name) => readFile(new URL(name, here), 'utf8')))
  const used = new Set(
    texts.flatMap((text) => [...text.matchAll(/'([A-Z]+(?:_[A-Z]+)+|OFFLINE)'/g)].map(([, code]) => code)),
  )
  const readme = await readFile(new URL('README.md', here), 'utf8')
  const rows = readme.split('\n').filter((line) => line.startsWith('| `'))
  const listedCodes = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code),
  )
  used.delete('ENOENT')
  assert.deepEqual(listedCodes.toSorted(), [...used].toSorted())
})

test('nodes that agree are well, and every way in which they differ has its own code and fix', () => {
  const node = {
    id: '1',
    name: 'a',
    version: '1.0.0',
    role: 'all',
    generation: 3,
    digest: 'abc',
    sharedDigest: 'abc',
    startedAt: 0,
    renewedAt: 0,
    leads: [],
    isSelf: true,
  } as const
  // Digests that differ are those of data folders.
  for (const digest of ['abc', 'abd'])
    assert.deepEqual(assessNodes([node, { ...node, name: 'b', digest }]), [
      ok('2, of one version and with one configuration'),
    ])
  const changed = { name: 'b', version: '1.1.0', digest: 'abd', sharedDigest: 'abd', wakeUp: 'poll' } as const
  const found = assessNodes([
    { ...node, role: 'ingress' },
    { ...node, role: 'ingress', ...changed },
  ])
  assert.deepEqual(
    found.map(({ state, code, message }) => [state, code, message]),
    [
      ['warning', 'NODE_VERSIONS', 'versions differ: 1.0.0 and 1.1.0'],
      ['warning', 'NODE_CONFIGURATIONS', 'they serve different configurations: abc on a; abd on b'],
      ['problem', 'NOTHING_PERFORMED', 'all have the role ingress, so nothing is performed'],
      ['warning', 'NO_NOTIFICATIONS', 'no notification of the database reaches b, which polls'],
    ],
  )
  assert.ok(found.every(({ fix }) => fix !== undefined))
})

test('an old transaction is a warning that names its session and how to end it', () => {
  const by = 'a report (process 42, idle in transaction)'
  assert.deepEqual(assessTransaction({ version: '18', oldestTransaction: { ageMs: 299_000, by } }), [])
  const [old] = assessTransaction({ version: '18', oldestTransaction: { ageMs: 360_000, by } })
  assert.equal(old?.code, 'OLD_TRANSACTION')
  assert.match(old?.message ?? '', /^a transaction of a report .* is open for 6 minutes/)
  assert.match(old?.fix ?? '', /pg_terminate_backend\(42\)/)
})
