import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { Io } from '../../io.ts'
import { assertAnswer, createCommandLine } from '../../io-fixture.ts'
import { person } from '../../webhooks/test-bed.ts'

/** An external channel whose service accepts one token. */
const pager = {
  'pager/package.json': JSON.stringify({
    name: 'pager',
    type: 'module',
    exports: './index.js',
    reveille: { kit: 1, channels: ['pager'], configSchema: './config.schema.json' },
  }),
  'pager/config.schema.json': JSON.stringify({
    type: 'object',
    properties: {
      token: {
        type: 'string',
        minLength: 6,
        'x-secret': true,
        'x-env': 'PAGER_KEY',
        description: 'What the pager gave you',
      },
      loud: { type: 'boolean', default: false, description: 'Whether it rings' },
      defaultTo: { type: 'string', pattern: '^[0-9]+$', description: 'A number' },
      baseUrl: { type: 'string', default: 'http://pager.example', description: 'The service' },
    },
    required: ['token'],
    additionalProperties: false,
  }),
  'pager/index.js': `
export default {
  name: 'pager',
  check({ defaultTo }) {
    if (defaultTo === '13') throw new Error('\`defaultTo\` is no address: nobody has 13.')
  },
  setup: ({ config, fetch }) => ({
    channels: [{
      id: 'pager',
      limits: { part: 100, unit: 'utf16' },
      target: (to) => ({ key: to, kind: 'user' }),
      render: (text) => [{ text }],
      send: async () => ({ id: '1' }),
      async check(signal) {
        const { status } = await fetch(config.baseUrl, { headers: { key: config.token }, signal })
        return status === 200 ? { ok: true, detail: 'known as Ada' } : { ok: false, detail: 'the token ' + config.token + ' is refused' }
      },
    }],
  }),
}`,
}

const configuration = '# Ours.\nplugins: [./pager]\n\nchannels: {} # none yet\n'
const good = 'good-token'

async function begin(
  t: TestContext,
  overrides: Partial<Io> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const asked: string[] = []
  const line = await createCommandLine(
    t,
    { ...pager, 'reveille.yaml': configuration, ...files },
    {
      fetch: async (_url, init) => {
        const key = new Headers(init?.headers).get('key') ?? ''
        asked.push(key)
        return new Response('', { status: key === good ? 200 : 401 })
      },
      ...overrides,
    },
  )
  const read = (name: string) => readFile(path.join(line.cwd, name), 'utf8')
  return { ...line, asked, read }
}

test('a person is asked for the required values, sees the error in an answer, and the channel is written into the configuration', async (t) => {
  const { output, prompts } = person({ token: ['', 'short', good], defaultTo: ['ada', '42'] })
  const { run, read, cwd, asked } = await begin(t, { prompts })
  const { code, err } = await run('init', 'channel', 'pager')
  assert.equal(code, 0, err)
  assert.deepEqual(output.filter((text) => !text.startsWith('?')).slice(0, 6), [
    'Channel pager',
    ': It is required.',
    'short: It must NOT have fewer than 6 characters: What the pager gave you.',
    'ada: It must match pattern "^[0-9]+$": A number.',
    'Asking the service whether this is good …',
    '· check          known as Ada',
  ])
  assert.equal(
    await read('reveille.yaml'),
    '# Ours.\nplugins: [./pager]\n\nchannels:\n  # none yet\n  pager:\n    token: "${PAGER_KEY}"\n    defaultTo: "42"\n',
  )
  assert.equal(await read('.env'), `PAGER_KEY=${good}\n`)
  assert.equal((await stat(path.join(cwd, '.env'))).mode & 0o777, 0o600)
  assert.ok(!output.join().includes(good), 'no credential is shown')
  assert.deepEqual(asked, [good])
})

test('a credential that the environment or .env holds is used, and not written again', async (t) => {
  const { prompts } = person({ defaultTo: [''] })
  const { run, read } = await begin(t, { prompts }, { '.env': `OTHER=1\nPAGER_KEY=${good}\n` })
  assert.equal((await run('init', 'channel', 'pager')).code, 0)
  assert.equal(await read('.env'), `OTHER=1\nPAGER_KEY=${good}\n`)
  assert.deepEqual(parse(await read('reveille.yaml')).channels, { pager: { token: '${PAGER_KEY}' } })
})

test('without a terminal keys come from --set and credentials from the environment, and the answer may be JSON', async (t) => {
  const { run, read } = await begin(t, { env: { PAGER_KEY: good } })
  const { code, out, err } = await run(
    'init',
    'channel',
    'pager',
    '--set',
    'loud=true',
    '--set',
    'defaultTo=7',
    '--json',
  )
  assert.equal(code, 0, err)
  const { steps, ...facts } = JSON.parse(out)
  const [warning] = facts.warnings
  assert.deepEqual(
    steps.map(({ step, outcome }: { step: string; outcome: string }) => `${step} ${outcome}`),
    ['check unchanged', 'configuration done'],
  )
  assert.deepEqual(facts, {
    ok: true,
    warnings: [warning],
    channel: 'pager',
    written: true,
    file: 'reveille.yaml',
    variables: ['PAGER_KEY'],
    check: { ok: true, detail: 'known as Ada' },
  })
  assert.deepEqual(parse(await read('reveille.yaml')).channels, {
    pager: { token: '${PAGER_KEY}', loud: true, defaultTo: '7' },
  })
  await assert.rejects(read('.env'), 'the environment holds it already')
})

test('with --set a person at a terminal is asked only for required values that are missing', async (t) => {
  const { prompts } = person({ token: [good], defaultTo: ['42'] })
  const { run, read } = await begin(t, { prompts })
  assert.equal((await run('init', 'channel', 'pager', '--set', 'loud=true')).code, 0)
  assert.deepEqual(parse(await read('reveille.yaml')).channels, {
    pager: { token: '${PAGER_KEY}', loud: true },
  })
  const other = await begin(t, { prompts: person({}).prompts, env: { PAGER_KEY: good } })
  assert.equal((await other.run('init', 'channel', 'pager', '--set', 'loud=true')).code, 0)
})

test('what cannot be done is refused with the ways to do it, and nothing is written', async (t) => {
  const { play, read, write } = await begin(t)
  await play(`
2 $ init channel pager --set defaultTo=ada
! …channels.pager.token is required
!   What the pager gave you
!   PAGER_KEY=… in the environment, or in .env beside…
! …channels.pager.defaultTo must match…
!   A number
!   --set defaultTo=…
2 $ init channel pager --set tokn=x
! --set tokn: it takes key=value with one of these keys: token, loud, defaultTo, baseUrl.…
2 $ init channel slak
! …no such channel…did you mean \`slack\`?…
`)
  assert.equal(await read('reveille.yaml'), configuration)
  await write('reveille.yaml', 'channels: { terminal: {} }\n')
  await play(`
1 $ init channel terminal
! reveille.yaml: It has channels.terminal already. The file is unchanged.
`)
  assert.equal(await read('reveille.yaml'), 'channels: { terminal: {} }\n')
})

test('a credential that the service refuses is not written, except with --no-check', async (t) => {
  const bad = 'wrong-token'
  const line = await begin(t, { env: { PAGER_KEY: bad } })
  const refused = await line.run('init', 'channel', 'pager')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /pager: the token \[redacted\] is refused\nNothing was written/)
  assert.equal(await line.read('reveille.yaml'), configuration)
  assert.equal((await line.run('init', 'channel', 'pager', '--no-check')).code, 0)
  assert.match(await line.read('reveille.yaml'), /pager:/)

  const { output, prompts } = person({
    token: [bad],
    defaultTo: [''],
    'What now?': ['Write it all the same'],
  })
  const other = await begin(t, { prompts })
  assert.equal((await other.run('init', 'channel', 'pager')).code, 0)
  assert.ok(output.includes('! pager: the token [redacted] is refused'))
})

test('a person whose credential is refused may give another, or stop', async (t) => {
  const { output, prompts } = person({
    token: ['wrong-token', good],
    defaultTo: ['', ''],
    'What now?': ['Ask me again'],
  })
  const line = await begin(t, { prompts })
  assert.equal((await line.run('init', 'channel', 'pager')).code, 0)
  assert.ok(output.includes('· check          known as Ada'))
  assert.equal(await line.read('.env'), `PAGER_KEY=${good}\n`)

  const gone = person({ token: ['wrong-token'], defaultTo: [''], 'What now?': ['Write nothing'] })
  const other = await begin(t, { prompts: gone.prompts })
  assert.equal((await other.run('init', 'channel', 'pager')).code, 1)
  assert.equal(await other.read('reveille.yaml'), configuration)
})

test('the plugin checks answers beyond its schema while the person can still correct them', async (t) => {
  const { output, prompts } = person({ token: [good], defaultTo: ['13', '14'] })
  const { run, read } = await begin(t, { prompts })
  assert.equal((await run('init', 'channel', 'pager')).code, 0)
  assert.ok(output.includes('13: It is no address: nobody has 13.'), output.join('\n'))
  assert.match(await read('reveille.yaml'), /defaultTo: "14"/)

  const refused = await begin(t, { env: { PAGER_KEY: good } })
  const { code, err } = await refused.run('init', 'channel', 'pager', '--set', 'defaultTo=13')
  assert.equal(code, 2)
  assert.match(err, /^channels\.pager\.defaultTo is no address: nobody has 13\n {2}--set defaultTo=…$/m)
})

test('the command says where a credential was found, and fills an empty entry for it in .env', async (t) => {
  const here = await begin(t, { env: { PAGER_KEY: good } })
  assertAnswer(await here.run('init', 'channel', 'pager'), {
    err: /^· check {10}known as Ada\n✓ configuration {2}Wrote channels\.pager in reveille\.yaml\.\n! A gateway that was started without PAGER_KEY refuses/,
  })

  const { prompts } = person({ token: [good], defaultTo: [''] })
  const empty = await begin(t, { prompts }, { '.env': '# Ours.\nPAGER_KEY=\nOTHER=1\n' })
  assert.equal((await empty.run('init', 'channel', 'pager')).code, 0)
  assert.equal(await empty.read('.env'), `# Ours.\nPAGER_KEY=${good}\nOTHER=1\n`)
})

test('a channel of a plugin is known also where the configuration names a variable that is not set', async (t) => {
  const configuration =
    '# Ours.\nplugins: [./pager]\nhooks: { enabled: true, token: "${HOOK_TOKEN}" }\nchannels: {}\n'
  const { run, read } = await begin(t, { env: { PAGER_KEY: good } }, { 'reveille.yaml': configuration })
  const { code, err } = await run('init', 'channel', 'pager', '--set', 'defaultTo=42')
  assert.equal(code, 0, err)
  assert.deepEqual(parse(await read('reveille.yaml')).channels, {
    pager: { token: '${PAGER_KEY}', defaultTo: '42' },
  })
})
