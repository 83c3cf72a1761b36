/** Tests the commands by which an admin changes what is live, against a running gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { configuration, gatewayToken, install, until } from '../../../test/installation.ts'
import { createCommandLine, testTranscript } from '../io-fixture.ts'

const mapping = (id: string, text = 'hello') =>
  `  - { id: ${id}, match: { path: ${id} }, action: wake, text: "${text}" }\n`
const mappings = (...lines: string[]) => `mappings:\n${lines.join('')}`
const limit = { timeout: 20_000 }

async function createBench(t: TestContext) {
  const installed = await install(t, {
    'reveille.yaml': `${configuration}history: { bodies: all }\n`,
    'mappings/a.yaml': mappings(mapping('bell'), mapping('door')),
  })
  const { folder, gateway, write, post } = installed
  const url = await gateway.listen()
  const env = { REVEILLE_URL: url, REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const world = { env, fetch, cwd: folder, now: Date.now }
  const { run } = await createCommandLine(t, {}, { ...world, columns: 80 })
  const piped = await createCommandLine(t, {}, world)
  return {
    installed,
    run,
    url,
    /** Not on a terminal. */
    pipe: piped.run,
    post,
    world,
    edit: (...lines: string[]) => write('mappings/a.yaml', mappings(...lines)),
    breakFiles: () => write('mappings/a.yaml', 'mappings:\n  - acton: wake\n  - mesage: x\n'),
  }
}

const milliseconds = / \([\d.]+ m?s\)/

test(
  'reload says what is live and what changed; again, that there is nothing to change',
  limit,
  async (t) => {
    const { run, edit, installed } = await createBench(t)
    await edit(mapping('bell', 'other'), mapping('one'), mapping('two'))
    await installed.write('reveille.yaml', configuration.replace('port: 0', 'port: 1'))
    const { code, out, err } = await run('reload')
    assert.deepEqual([code, err], [0, ''])
    assert.deepEqual(out.replace(milliseconds, '').split('\n'), [
      'Generation 2 is live.',
      '  +2 mappings (one, two), 1 changed (bell), 1 removed (door)',
      '  settings: gateway.port, history.bodies',
      '  restart needed for gateway.port',
      '',
    ])
    assert.deepEqual(await run('reload'), {
      code: 0,
      out: 'Nothing to change: generation 2 stays live.\n',
      err: '',
    })
  },
)

test('a refused reload says where and why, and exits with 1', limit, async (t) => {
  const { run, breakFiles } = await createBench(t)
  await breakFiles()
  const { code, out, err } = await run('reload')
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /^mappings\/a\.yaml:2:5: error: .*`action`\?\n\nmappings\/a\.yaml:3:5: error: /s)
  assert.match(err, /\n\nRefused: 2 errors; generation 1 stays live\.\n$/)
  const json = await run('reload', '--json')
  assert.equal(json.code, 1)
  const { ok, outcome, generation, diagnostics } = JSON.parse(json.out)
  assert.deepEqual([ok, outcome, generation, diagnostics.length], [false, 'rejected', 1, 2])
})

test(
  'a dry run says what would go live and which requests would end otherwise, and changes nothing',
  limit,
  async (t) => {
    const { run, edit, post, installed, breakFiles } = await createBench(t)
    for (const path of ['bell', 'door', 'door']) await post(`/hooks/${path}`, { n: 1 })
    await until(async () => {
      const { items } = await installed.read<{ items: unknown[] }>('/api/requests')
      return items.length === 3 || undefined
    }, 'three requests')
    await edit(mapping('bell'))
    const { code, out } = await run('reload', '--dry-run')
    assert.equal(code, 0)
    assert.match(out, /^This would go live; generation 1 stays live:\n {2}1 mapping removed \(door\)\n/)
    assert.match(
      out,
      /\nOf 3 stored requests 2 would end otherwise:\n {2}2 would [^\n]+\n\nTIME +ID +ENDPOINT +CHANGE\n/,
    )
    assert.equal(out.split('\n').filter((line) => / door +would /.test(line)).length, 2)
    const limited = JSON.parse((await run('reload', '--dry-run', '--limit', '1', '--json')).out)
    assert.equal(limited.shadow.compared, 1)
    await breakFiles()
    const refused = await run('reload', '--dry-run')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /This would be refused: 2 errors; generation 1 stays live\.\n$/)
    assert.equal(installed.gateway.current().generation, 1)
  },
)

test('rollback serves an earlier generation, and every command says that it holds', limit, async (t) => {
  const { run, edit, installed } = await createBench(t)
  await edit(mapping('bell'))
  await run('reload')
  const back = await run('rollback', '1')
  assert.deepEqual([back.code, back.err], [0, ''])
  assert.equal(
    back.out.replace(milliseconds, ''),
    'Generation 1 serves again, in the place of the files until they change or `reveille reload` ends it.\n  +1 mapping (door)\n',
  )
  assert.equal(installed.gateway.current().generation, 1)
  assert.equal((await run('rollback', '1')).out, 'Generation 1 serves already.\n')
  assert.match((await run('status')).out, /^generation +1, at .*, mappings 2, .*rolledBack yes/m)
  const listed = await run('generations')
  assert.match(
    listed.out,
    /\n\nGeneration 1 serves in the place of the files until they change or `reveille reload` ends it\.\n$/,
  )
  assert.match((await run('reload')).out, /^Generation 2 is live \(/)
  assert.match((await run('status')).out, /^files +watched no, readAt /m)

  await run('rollback', '1')
  const forward = await run('rollback', '2')
  assert.match(forward.out, /^Generation 2 serves again, as the files have it \(/)
  assert.doesNotMatch((await run('status')).out, /rolledBack/)
})

test('a rollback is tried first, and the changes of a generation are shown as a patch', limit, async (t) => {
  const { run, edit, installed } = await createBench(t)
  await edit(mapping('bell'))
  await run('reload')
  const tried = await run('rollback', '1', '--dry-run')
  assert.match(tried.out, /^This would go live; generation 2 stays live:\n {2}\+1 mapping \(door\)\n/)
  assert.equal(installed.gateway.current().generation, 2)
  const patch = await run('generations', '2')
  assert.deepEqual(patch.out.split('\n').slice(0, 6), [
    '--- mappings/a.yaml\tgeneration 1',
    '+++ mappings/a.yaml\tgeneration 2',
    '@@ -1,3 +1,2 @@',
    ' mappings:',
    '   - { id: bell, match: { path: bell }, action: wake, text: "hello" }',
    '-  - { id: door, match: { path: door }, action: wake, text: "hello" }',
  ])
  assert.equal(
    (await run('generations', '1', '--with', '1')).out,
    'The files of generations 1 and 1 are the same.\n',
  )
  assert.match((await run('generations', '1')).err, /No generation before 1 is kept/)
  assert.match((await run('generations', '9')).err, /Generation 9 is not kept; kept are 2, 1/)
  const unknown = { code: 1, out: '', err: 'Generation 7 is not kept; kept are 2, 1.\n' }
  assert.deepEqual(await run('rollback', '7'), unknown)
})

test(
  'generations are a table of what went live and what was refused, within the terminal',
  limit,
  async (t) => {
    const { run, pipe, edit, breakFiles } = await createBench(t)
    await edit(...['bell', 'door', 'window', 'gate'].map((id) => mapping(`${id}-of-the-house-by-the-sea`)))
    await run('reload')
    await breakFiles()
    await run('reload')
    const { code, out } = await run('generations')
    assert.equal(code, 0)
    const [header, refused, live, retired, , note] = out.split('\n')
    assert.match(String(header), /^NUMBER +STATE +TIME +BY +MAPPINGS +CHANGES$/)
    assert.match(String(refused), /^- +rejected +[\d:]+ +owner +2 errors: mappings\/a\.yaml:2:5/)
    assert.match(String(live), /^2 +live +[\d:]+ +owner +4 +\+4 mappings \(bell.*…$/)
    assert.match(String(retired), /^1 +retired +[\d:]+ +2 +/)
    assert.equal(note, 'The files as they are now are refused; `reveille reload` says why.')
    for (const line of out.split('\n')) assert.ok(line.length <= 80, line)
    assert.match((await pipe('generations')).out, /UNKNOWN_KEY\n.*gate-of-the-house-by-the-sea\)/)
    const { items } = JSON.parse((await run('generations', '--json')).out)
    assert.deepEqual(
      items.map(({ state }: { state: string }) => state),
      ['rejected', 'live', 'retired'],
    )
    assert.match((await run('status')).out, /^refused +at .*, errors 2,/m)
  },
)

test('a broken configuration still leads to its gateway, whose answer is shown', limit, async (t) => {
  const { installed, url, world } = await createBench(t)
  const { write } = installed
  const { run } = await createCommandLine(t, {}, { ...world, env: { GATEWAY: gatewayToken }, columns: 80 })
  const { port } = new URL(url)
  const block = `gateway: { port: ${port}, auth: { token: "\${GATEWAY}" } }\n`
  await write('mappings/a.yaml', mappings(mapping('bell')))
  await run('reload')
  for (const broken of [
    `${block}hoks: {}\n`,
    `${block}hooks: { token: "\${UNSET}" }\n`,
    `${block}hooks: {\n`,
  ]) {
    await write('reveille.yaml', broken)
    const reloaded = await run('reload')
    assert.equal(reloaded.code, 1)
    assert.match(reloaded.err, /Refused: \d errors?; generation \d stays live\.\n$/, broken)
    assert.equal((await run('rollback', '1')).code, 0, broken)
  }
  await write('reveille.yaml', 'gateway: { port: many }\n')
  const lost = await run('reload')
  assert.equal(lost.code, 1)
  assert.match(
    lost.err,
    /reveille\.yaml:1:18: error: /,
    'without a gateway, what is wrong here is all there is to say',
  )
})

testTranscript(
  {},
  `
# bad usage exits with 2 and names the expected usage
2 $ rollback
! …missing required argument 'generation'…
2 $ rollback one
! …a number that \`reveille generations\` lists…
2 $ rollback 0
! …a number that …
2 $ reload --limit 5
! …--limit is for --dry-run…
2 $ reload --dry-run --limit 0
! …whole number from 1 to 10000…
2 $ reload 1
! …too many arguments…
`,
)
