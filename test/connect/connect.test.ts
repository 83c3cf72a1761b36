/** Tests `connect` and `disconnect` against fake providers, with a gateway that they reach at a public address. */

import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'yaml'
import { runCli } from '../../runtime/cli/cli.ts'
import type { Io } from '../../runtime/cli/io.ts'
import { person } from '../../runtime/cli/webhooks/test-bed.ts'
import { createSite, publicUrl, type Site } from './fixture.ts'
import { openFakeGitHub } from './github.ts'
import { openFakeStripe } from './stripe.ts'

const hooks = `  # What GitHub may send is decided here.
  maxBodyBytes: 2000000 # two megabytes
`

async function begin(t: TestContext) {
  const site = await createSite(t)
  const { now } = site.clock
  const github = await openFakeGitHub({ now, reach: site.reach })
  const stripe = await openFakeStripe({ now, targetOf: site.reach })
  t.after(() => Promise.all([github.close(), stripe.close()]))
  const env = {
    GITHUB_TOKEN: github.token,
    GITHUB_API_URL: github.url,
    STRIPE_API_KEY: stripe.key,
    STRIPE_API_URL: stripe.url,
  }
  await site.start(hooks)
  return { site, github, stripe, env, run: (...words: string[]) => run(site, env, words) }
}

async function run(site: Site, env: Io['env'], words: readonly string[], more: Partial<Io> = {}) {
  const written = { out: '', err: '' }
  const io: Io = {
    out(text) {
      written.out += text
    },
    err(text) {
      written.err += text
    },
    env,
    cwd: site.folder,
    now: Date.now,
    pause: (ms) => pause(Math.min(ms, 5)),
    fetch: globalThis.fetch,
    ...more,
  }
  const code = await runCli(['node', 'reveille', ...words], io)
  for (const secret of [env['GITHUB_TOKEN'], env['STRIPE_API_KEY']])
    if (secret) assert.ok(!`${written.out}${written.err}`.includes(secret), 'a token is shown')
  return { code, ...written }
}

/** As a copied preset has it. */
const copied = `# github: { verify: { provider: github, secret: "\${GITHUB_WEBHOOK_SECRET}" } }
mappings:
  - { id: pinged, match: { path: ":sender", headers: { x-github-event: ping } }, action: wake, text: It works. }
`

const textOf = (site: Site, name: string) => readFile(join(site.folder, name), 'utf8').catch(() => '')

const toGitHub = ['connect', 'github', 'octo-org/harbour', '--url', publicUrl]

test('GitHub is connected once however often it is run, its ping is proven, and disconnect leaves the files as they were', async (t) => {
  const { site, github, run } = await begin(t)
  await site.gateway.write('mappings/copied.yaml', copied)
  const before = await textOf(site, 'reveille.yaml')
  const first = await run(...toGitHub)
  assert.equal(first.code, 0, first.err)
  assert.match(
    first.err,
    /✓ ping .*GitHub pinged https:\/\/hooks\.example\.com\/hooks\/github, and the\s+gateway took it\./,
  )
  assert.match(first.out, /^GitHub is connected\./)
  const [hook] = github.hooks()
  assert.equal(hook?.config.url, `${publicUrl}/hooks/github`)
  assert.deepEqual([hook?.config.content_type, hook?.config.insecure_ssl], ['json', '0'])
  assert.deepEqual(hook?.events, [
    'code_scanning_alert',
    'dependabot_alert',
    'issue_comment',
    'issues',
    'pull_request',
    'pull_request_review_comment',
    'secret_scanning_alert',
    'workflow_run',
  ])

  const written = await textOf(site, 'reveille.yaml')
  assert.ok(written.includes('# What GitHub may send is decided here.'))
  assert.ok(written.includes('maxBodyBytes: 2000000 # two megabytes'))
  const { presets, endpoints } = parse(written).hooks
  assert.deepEqual(presets, ['github'])
  assert.deepEqual(endpoints.github, {
    verify: { provider: 'github', secret: '${GITHUB_WEBHOOK_SECRET}' },
    catchUp: {
      repo: 'octo-org/harbour',
      hookId: hook?.id,
      token: '${GITHUB_TOKEN}',
      api: github.url,
    },
  })
  const env = await textOf(site, '.env')
  assert.match(env, new RegExp(`^GITHUB_WEBHOOK_SECRET=${hook?.config.secret}$`, 'm'))
  assert.match(hook?.config.secret ?? '', /^[0-9a-f]{64}$/)
  assert.match(env, new RegExp(`^GITHUB_TOKEN=${github.token}$`, 'm'))
  assert.equal((await stat(join(site.folder, '.env'))).mode & 0o777, 0o600)
  await site.source('catch-up.github', ({ times }) => times?.['asked'] !== undefined)

  const second = await run(...toGitHub)
  assert.equal(second.code, 0, second.err)
  assert.deepEqual([await textOf(site, 'reveille.yaml'), await textOf(site, '.env')], [written, env])
  const moved = await run('connect', 'github', '--url', `${publicUrl}/proxied/`, '--wait', '0')
  assert.equal(moved.code, 0, moved.err)
  assert.deepEqual(
    github.hooks().map(({ id, config }) => [id, config.url]),
    [[hook?.id, `${publicUrl}/proxied/hooks/github`]],
  )

  const gone = await run('disconnect', 'github')
  assert.equal(gone.code, 0, gone.err)
  assert.deepEqual(github.hooks(), [])
  assert.deepEqual([await textOf(site, 'reveille.yaml'), await textOf(site, '.env')], [before, ''])
  assert.equal((await run('disconnect', 'github', 'octo-org/harbour')).code, 1)
})

test('Stripe is connected once, a secret that was lost is replaced, and disconnect removes the endpoint', async (t) => {
  const { site, stripe, run } = await begin(t)
  const before = await textOf(site, 'reveille.yaml')
  for (let times = 0; times < 2; times++) {
    const { code, err } = await run('connect', 'stripe', '--url', publicUrl)
    assert.equal(code, 0, err)
  }
  const [endpoint] = stripe.endpoints()
  assert.equal(stripe.endpoints().length, 1)
  assert.ok(endpoint?.enabled_events.includes('invoice.payment_failed'))
  assert.match(
    await textOf(site, '.env'),
    new RegExp(`^STRIPE_WEBHOOK_SECRET=${endpoint?.signingSecret}$`, 'm'),
  )
  await stripe.emit('payout.paid', { id: 'po_1', amount: 100, currency: 'eur' })
  assert.equal(stripe.pending(), 0, 'it is signed with the secret that was written')

  await site.gateway.write(
    '.env',
    (await textOf(site, '.env')).replace(/^STRIPE_WEBHOOK_SECRET=.*\n/m, 'STRIPE_WEBHOOK_SECRET=\n'),
  )
  await run('connect', 'stripe', '--url', publicUrl)
  assert.equal(stripe.endpoints().length, 1)
  assert.notEqual(stripe.endpoints()[0]?.id, endpoint?.id)
  await stripe.emit('payout.paid', { id: 'po_2', amount: 100, currency: 'eur' })
  assert.equal(stripe.pending(), 0)

  assert.equal((await run('disconnect', 'stripe')).code, 0)
  assert.deepEqual(stripe.endpoints(), [])
  assert.deepEqual([await textOf(site, 'reveille.yaml'), await textOf(site, '.env')], [before, ''])
})

test('a webhook of an organisation, and of a second repository, have endpoints of their own', async (t) => {
  const { site, github, run } = await begin(t)
  assert.equal((await run(...toGitHub, '--wait', '0')).code, 0)
  const taken = await run('connect', 'github', '--org', 'octo-org', '--url', publicUrl)
  assert.equal(taken.code, 2)
  assert.match(
    taken.err,
    /The endpoint github belongs to octo-org\/harbour\. Give octo-org an endpoint of its own with\s+--endpoint github-octo-org/,
  )
  const own = await run(
    'connect',
    'github',
    '--org',
    'octo-org',
    '--url',
    publicUrl,
    '--endpoint',
    'github-octo',
    '--events',
    'push,release',
  )
  assert.equal(own.code, 0, own.err)
  assert.deepEqual(
    github.hooks().map(({ place, events }) => [place, events.length]),
    [
      ['repos/octo-org/harbour', 8],
      ['orgs/octo-org', 2],
    ],
  )
  const { presets, endpoints } = parse(await textOf(site, 'reveille.yaml')).hooks
  assert.deepEqual(presets, ['github'])
  assert.match(own.err, /No mapping takes what comes of the endpoint github-octo/)
  assert.equal(endpoints['github-octo'].verify.secret, '${GITHUB_OCTO_WEBHOOK_SECRET}')
  assert.equal((await run('disconnect', 'github', '--endpoint', 'github-octo')).code, 0)
  assert.equal(github.hooks().length, 1)
  assert.match(await textOf(site, '.env'), /^GITHUB_TOKEN=/m, 'the other endpoint still needs it')
})

test('a dry run says what would be done, and does nothing', async (t) => {
  const { site, github, run } = await begin(t)
  const before = await textOf(site, 'reveille.yaml')
  const { code, out } = await run(...toGitHub, '--dry-run', '--json')
  assert.equal(code, 0)
  const { ok, dryRun, address, hookId, configuration } = JSON.parse(out)
  assert.deepEqual(
    [ok, dryRun, address, hookId, configuration.changed],
    [true, true, `${publicUrl}/hooks/github`, null, true],
  )
  assert.deepEqual(github.hooks(), [])
  assert.equal(await textOf(site, 'reveille.yaml'), before)
})

test('a refusal of the provider is reported with the missing permission, and nothing is written', async (t) => {
  const { site, github, env, run: running } = await begin(t)
  const before = await textOf(site, 'reveille.yaml')
  const withToken = (token: string | undefined, ...words: string[]) =>
    run(site, { ...env, GITHUB_TOKEN: token }, words)
  for (const [result, code, expected] of [
    [
      await withToken(undefined, ...toGitHub),
      2,
      /GITHUB_TOKEN is not set\. It is to hold a fine-grained token with "Webhooks: read and write"/,
    ],
    [await withToken('ghp_wrong', ...toGitHub), 1, /does not know the token of GITHUB_TOKEN \(401\)/],
    [await running('connect', 'github', 'octo-org/other', '--url', publicUrl), 1, /octo-org\/other \(404\)/],
    [
      await running('connect', 'github', 'harbour', '--url', publicUrl),
      2,
      /harbour is no repository: write OWNER\/REPO/,
    ],
    [await running('connect', 'github', '--url', publicUrl), 2, /Name the repository/],
    [
      await running('connect', 'github', 'a/b', '--url', 'http://localhost:8787'),
      2,
      /cannot reach localhost/,
    ],
    [await running('connect', 'github', 'a/b'), 2, /--url https:\/\/hooks\.example\.com, or a tunnel/],
    [await running('connect', 'stripe', '--url', 'http://hooks.example.com'), 2, /https:\/\/ alone/],
  ] as const) {
    assert.equal(result.code, code, result.err)
    assert.match(result.err.replaceAll('\n', ' '), expected)
  }
  github.allow(false)
  const forbidden = await running(...toGitHub)
  assert.equal(forbidden.code, 1)
  assert.match(forbidden.err, /\(403\)\. It needs the permission "Webhooks: read and write"/)
  assert.deepEqual([await textOf(site, 'reveille.yaml'), await textOf(site, '.env')], [before, ''])
})

test('without --url the address is that of the tunnel, and the token may be typed', async (t) => {
  const { site, github, env } = await begin(t)
  const tunnelled: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!String(input).endsWith('/api/status')) return response
    return Response.json({ ...((await response.json()) as object), publicUrl })
  }
  const somebody = person({ 'The token of GitHub': ['two words', github.token] })
  const { code, err } = await run(
    site,
    { ...env, GITHUB_TOKEN: undefined },
    ['connect', 'github', 'octo-org/harbour'],
    { fetch: tunnelled, prompts: somebody.prompts },
  )
  assert.equal(code, 0, err)
  assert.equal(github.hooks()[0]?.config.url, `${publicUrl}/hooks/github`)
  const shown = somebody.output.join('\n')
  assert.match(shown, /two words: A token without spaces\./)
  assert.match(shown, /GitHub is connected\./)
  assert.ok(!shown.includes(github.token))
  assert.match(await textOf(site, '.env'), new RegExp(`^GITHUB_TOKEN=${github.token}$`, 'm'))
})

test('a ping that does not arrive, and a gateway that does not run, are said', async (t) => {
  const { site, run } = await begin(t)
  const elsewhere = await run(
    'connect',
    'github',
    'octo-org/harbour',
    '--url',
    'https://elsewhere.example.com',
  )
  assert.equal(elsewhere.code, 1)
  assert.match(
    elsewhere.err.replaceAll(/\s+/g, ' '),
    /GitHub could not deliver its ping to https:\/\/elsewhere\.example\.com\/hooks\/github \(502, failed to connect to host\)/,
  )
  await site.stop()
  const off = await run(...toGitHub)
  assert.equal(off.code, 0, off.err)
  assert.match(
    off.err.replaceAll(/\s+/g, ' '),
    /No gateway answers at .*, so that the way from GitHub to it was not tried/,
  )
})
