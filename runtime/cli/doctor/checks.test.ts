import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { listed } from '../print.ts'
import { type Check, ok, runChecks } from './check.ts'
import { assessNodes, assessTransaction } from './checks/cluster.ts'
import type { GuardedFile } from './checks/files.ts'
import { assessAccess, assessMounts, assessOwners, gatewayUser, type Step } from './checks/files.ts'
import { assessNode, assessSkew, assessSpace } from './checks/machine.ts'
import { assessBacklog, assessIssues, assessSource } from './checks/work.ts'
import type { DoctorContext } from './context.ts'
import { NotChecked, skewOf } from './gateway-view.ts'

const subject = {} as DoctorContext
const check = (name: string, run: Check['run']): Check => ({ name, group: 'work', title: name, run })

test('checks run side by side, and one that fails or hangs does not stop the others', async () => {
  const met = Promise.withResolvers<void>()
  let late: AbortSignal | undefined
  const checked = await runChecks(
    [
      check('waits', () => met.promise.then(() => ok('after the other'))),
      check('meets', async () => {
        met.resolve()
        return [ok('one'), ok('two')]
      }),
      check('hangs', (_subject, signal) => {
        late = signal
        return new Promise(() => {})
      }),
      check('throws', () => {
        throw Object.assign(new Error('EACCES: permission denied, open /secret'), { code: 'EACCES' })
      }),
      check('knows why not', () => Promise.reject(new NotChecked('NO_WAY', 'there is no way'))),
    ],
    subject,
    50,
  )
  assert.deepEqual(
    checked.map(({ results }) => results.map(({ state, code, message }) => [state, code, message])),
    [
      [['ok', undefined, 'after the other']],
      [
        ['ok', undefined, 'one'],
        ['ok', undefined, 'two'],
      ],
      [['not-checked', 'CHECK_TIMEOUT', 'it did not end within 0.05 s']],
      [['not-checked', 'CHECK_FAILED', 'it failed: EACCES']],
      [['not-checked', 'NO_WAY', 'there is no way']],
    ],
  )
  assert.ok(late?.aborted)
})

test('a disk with less than a gigabyte or less than a twentieth free is a warning', () => {
  const GB = 1_000_000_000
  assert.deepEqual(assessSpace({ free: 50 * GB, total: 500 * GB }), ok('50 GB free, 10 %'))
  assert.equal(assessSpace({ free: 0.9 * GB, total: 2 * GB }).code, 'DISK_NEARLY_FULL')
  assert.match(assessSpace({ free: 4 * GB, total: 100 * GB }).message, /^4\.0 GB free, 4 %/)
  assert.equal(assessSpace({ free: 4 * GB, total: 100 * GB }).state, 'warning')
})

test('a backlog is a warning before it is full, and a problem when it is full', () => {
  const at = (waiting: number) => assessBacklog({ waiting, limit: 1_000 }, 'the gateway', 'look').state
  assert.deepEqual(
    [at(0), at(799), at(800), at(999), at(1_000)],
    ['ok', 'ok', 'warning', 'warning', 'problem'],
  )
})

test('open issues are a warning with their number by severity', () => {
  assert.deepEqual(assessIssues({ 'losing-events': 0, failing: 0 }, 'look'), ok('none open'))
  const { state, code, message } = assessIssues({ 'losing-events': 1, failing: 2, degraded: 0 }, 'look')
  assert.deepEqual([state, code, message], ['warning', 'OPEN_ISSUES', '1 losing-events, 2 failing'])
})

test('the report says what a source waits for, and how many of its events the gateway refused', () => {
  const judge = (facts: object) =>
    assessSource({ source: 'gmail', state: 'working', detail: 'Well.', ...facts }, { env: {} })
  assert.deepEqual(judge({ counts: { posted: 3, refused: 0 } }), [])
  assert.equal(judge({ state: 'waiting', detail: 'Run setup.' })[0]?.message, 'gmail: Run setup')
  const [refused] = judge({ counts: { refused: 1200 } })
  assert.deepEqual(
    [refused?.code, refused?.fix],
    ['SOURCE_REFUSED', '`reveille requests --outcome refused` says why'],
  )
  assert.match(refused?.message ?? '', /^gmail: the gateway refused 1,200 /)
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
  assert.match(assessSkew(59_500, "the gateway's", 'x').message, /^60 s behind the gateway's$/)
  assert.match(assessSkew(-200_000, "the gateway's", 'x').message, /^200 s ahead of/)
})

const guarded = (shown: string, uid: number, isData = false): GuardedFile => ({
  shown,
  isData,
  isFolder: shown === 'data',
  isSecret: true,
  stats: { mode: 0o600, uid },
})

test('files belong to the owner of the data folder, and those that the operator writes may belong to root', () => {
  const file = guarded
  const judge = (...files: GuardedFile[]) =>
    assessOwners(files, files.find(({ isData }) => isData)?.stats.uid ?? 1000, 1000)
  assert.equal(judge(file('.env', 1000), file('data', 1000, true)).message, 'all of them belong to you')
  assert.deepEqual(
    judge(file('reveille.yaml', 0), file('data', 990, true)),
    ok('all of them belong to user 990 or to root'),
  )
  const ofRoot = judge(file('data', 990, true), file('data/reveille.db-shm', 0, true))
  assert.deepEqual([ofRoot.code, ofRoot.fix], ['OWNED_BY_ANOTHER', 'As root: chown 990 data/reveille.db-shm'])
  assert.equal(judge(file('.env', 1001), file('data', 1000, true)).code, 'OWNED_BY_ANOTHER')
  assert.equal(judge(file('.env', 1001)).code, 'OWNED_BY_ANOTHER')
})

test('root is never asked to take files from the user that the gateway is being set up for', async () => {
  const [asking, operator] = [0, 990].map((id) => ({ uid: id, gid: id }))
  assert.ok(asking && operator)
  const ownerOf = async (target: string) => (target === '/etc/reveille' ? operator : asking)
  const subject = { folder: '/etc/reveille', settingsIfKnown: undefined }
  const user = await gatewayUser(subject, asking, ownerOf)
  assert.deepEqual(user, operator, 'before the first start the folder says whose gateway it is')
  const files = ['.env', 'reveille.yaml'].map((shown) => guarded(shown, operator.uid))
  assert.deepEqual(assessOwners(files, user.uid, asking.uid), ok('all of them belong to user 990'))
  const own = { uid: 1000, gid: 1000 }
  assert.deepEqual(await gatewayUser(subject, own, ownerOf), own, 'anybody else sets up his own')
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

test('a file that the user of the gateway may not read is a problem, with the line that fixes it', () => {
  const step = (shown: string, mode: number, uid: number, gid = uid): Step => ({
    shown,
    isFolder: shown.endsWith('c'),
    isOutside: shown.startsWith('/'),
    stats: { mode, uid, gid },
  })
  const judge = (...steps: Step[]) => {
    const found = assessAccess([steps], { uid: 990, gids: [990, 50] })
    return [found].flat().map(({ state, code, message, fix }) => [state, code, message, fix])
  }
  const good = [['ok', undefined, 'the user of the gateway (990) can read all of them', undefined]]
  assert.deepEqual(judge(step('/etc', 0o755, 0), step('.env', 0o600, 990)), good)
  assert.deepEqual(judge(step('.env', 0o640, 0, 50)), good, 'by its group')
  assert.deepEqual(judge(step('a.yaml', 0o644, 0)), good, 'by everybody')
  const unreadable = (names: string, fix: string) => [
    ['problem', 'UNREADABLE_FOR_GATEWAY', `the user of the gateway (990) may not read ${names}`, fix],
  ]
  assert.deepEqual(judge(step('.env', 0o600, 0)), unreadable('.env', 'As root: chown 990 .env'))
  assert.deepEqual(judge(step('.env', 0o044, 990)), unreadable('.env', 'As root: chmod u+r .env'))
  assert.deepEqual(
    judge(step('/etc', 0o750, 0), step('.env', 0o600, 990)),
    unreadable('what lies in /etc', 'As root: chmod a+x /etc'),
  )
  assert.deepEqual(
    judge(step('etc', 0o700, 0), step('etc/x.yaml', 0o644, 0)),
    unreadable('what lies in etc', 'As root: chown 990 etc'),
  )
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
      ['warning', 'NODE_VERSIONS', 'they are of the versions 1.0.0 and 1.1.0'],
      ['warning', 'NODE_CONFIGURATIONS', 'they serve different configurations: abc on a; abd on b'],
      ['problem', 'NOTHING_PERFORMED', 'all are of the role ingress, so nothing is performed'],
      [
        'warning',
        'NO_NOTIFICATIONS',
        'b asks four times a second, as no notification of the database arrives',
      ],
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

test('a file that is mounted by itself is named, and one that was replaced behind its mount is a problem', () => {
  const line = (root: string, point: string) => `79 51 254:0 ${root} ${point} rw,relatime - ext4 /dev/vda rw`
  const judge = (...lines: string[]) =>
    [assessMounts(lines.join('\n'), ['/etc/reveille.yaml', '/etc/.env'], ['/etc/map pings'])].flat()
  const codes = (...lines: string[]) => judge(...lines).map(({ state, code }) => [state, code])
  assert.deepEqual(codes(line('/', '/'), line('/x', '/etc'), line('/x', '/etc/map\\040pings')), [
    ['ok', undefined],
  ])
  assert.deepEqual(codes(line('/x.yaml', '/etc/reveille.yaml')), [['warning', 'SINGLE_FILE_MOUNT']])
  assert.deepEqual(codes(line('/x.yaml//deleted', '/etc/map\\040pings/a.yaml')), [
    ['problem', 'FILE_REPLACED'],
  ])
  assert.match(judge(line('/x.yaml', '/etc/.env'))[0]?.fix ?? '', /Mount the folder \/etc instead/)
})
