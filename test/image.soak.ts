/**
 * Builds the image by the steps of the Dockerfile, and runs it as a container would, without Docker, and so does each kind of user. It installs
 * from npm, and takes minutes.
 */

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, globSync } from 'node:fs'
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { atEnd } from './at-end.ts'
import { buildImage, type Image, parseDockerfile } from './dockerfile.ts'
import { freePort } from './durability/gateway-process.ts'
import { until } from './installation.ts'
import { type Installed, testWalks } from './walk.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')
/** Maximum size of the image beside its base, Node.js included. Bytes of gzip. */
const maxBytes = 120 * 1024 * 1024

const skip = process.platform === 'win32' && 'the steps are those of a Linux image'

let folder = ''
let walked: Image | undefined

after(async () => {
  if (folder === '') return
  await run('chmod', ['-R', 'u+w', folder])
  await rm(folder, { recursive: true, force: true })
})

test('the steps of the Dockerfile give an image that starts, answers and drains as a user without rights', {
  skip,
}, async (t) => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-image-')))
  // The user of the container has to get there.
  await chmod(folder, 0o755)
  const [steps, ignored] = [
    parseDockerfile(await readFile(path.join(root, 'Dockerfile'), 'utf8')),
    (await readFile(path.join(root, '.dockerignore'), 'utf8'))
      .split('\n')
      .filter((line) => /^[^#\s]/.test(line)),
  ]
  const built = await buildImage(steps, { context: root, ignored, folder, env: machineEnv(), base })
  const image = { ...built, user: await namelessOwner(built) }

  const left = await readdir(path.join(image.root, 'usr', 'local', 'bin'))
  assert.deepEqual(left, ['node'], 'there is no npm')
  await assertLocked(path.join(image.root, 'app'))
  await makeReadOnly(image)
  const bytes = await gzipBytes(image.root)
  const parts = await run('du', ['-sm', 'app', 'usr'], { cwd: image.root })
  t.diagnostic(
    `gzip of the staged tree: ${(bytes / 1024 / 1024).toFixed(1)} MB; unpacked MB: ${parts.stdout.replace(/\s+/g, ' ')}`,
  )
  assert.ok(bytes <= maxBytes, `${bytes} bytes`)

  const port = String(await freePort())
  // The gateway runs without HOME. Docker and Kubernetes set it to `/` for a user without a name, as one of the commands below has it.
  const env: Image['env'] = { ...image.env, REVEILLE_PORT: port, REVEILLE_HOST: '127.0.0.1' }
  assert.equal(env['HOME'], undefined)
  const refused = `require('fs').writeFileSync(${JSON.stringify(path.join(image.root, 'app', 'x'))}, '')`
  await assert.rejects(finished(startIn(image, ['node', '-e', refused], env)), /EACCES|EROFS/)
  await assert.rejects(finished(startIn(image, image.healthcheck, env)), /exit code 1/)

  const gateway = startIn(image, [...image.entrypoint, ...image.cmd], env)
  atEnd(t, () => gateway.kill('SIGKILL'))
  const over = finished(gateway)
  over.catch(() => undefined)
  const started = performance.now()
  await until(
    () =>
      finished(startIn(image, image.healthcheck, env)).then(
        () => true,
        () => undefined,
      ),
    'a good health check',
    60_000,
  )
  t.diagnostic(
    `from the start to a good health check: ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )

  const dataFolder = image.volumes[0] ?? ''
  const secrets = await readFile(path.join(dataFolder, '.env'), 'utf8')
  const token = /^REVEILLE_HOOK_TOKEN=(.+)$/m.exec(secrets)?.[1]
  const address = `http://127.0.0.1:${port}`
  const answer = await fetch(`${address}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, prefer: 'wait=20' },
    body: '{"message":"Say hello"}',
  })
  assert.equal(answer.status, 200, await answer.text())
  for (const given of [env, { ...env, HOME: '/' }]) {
    const status = await finished(startIn(image, ['reveille', 'status', '--json'], given))
    assert.equal(JSON.parse(status).ready, true)
  }

  gateway.kill('SIGTERM')
  await over
  walked = image
})

testWalks('the image', async (t) => {
  if (skip) t.skip(skip)
  else return installedIn(walked)
  return undefined
})

/** The image is read-only, has no npm, and brings all packages of this repository. */
function installedIn(image: Image | undefined): Installed {
  if (image === undefined) throw new Error('The image was not built, or does not start.')
  const [command = ''] = image.entrypoint.slice(1)
  return {
    command,
    // Only root can become another user.
    ...(process.getuid?.() === 0 && { user: image.user }),
    async add(_folder, names) {
      const modules = path.join(image.root, 'app', 'node_modules')
      const missing = names.filter((name) => !existsSync(path.join(modules, name, 'package.json')))
      if (missing.length > 0)
        throw new Error(`The image has no ${missing.join(', ')}, and no npm to install it.`)
    },
  }
}

/** The environment that a machine gives to a build: npm's settings, and no secrets of whoever runs this. */
function machineEnv(): Record<string, string | undefined> {
  const names = Object.keys(process.env).filter((name) =>
    /^(npm_config_|https?_proxy$|no_proxy$|node_extra_ca_certs$|ssl_cert_)/i.test(name),
  )
  const given = Object.fromEntries(names.map((name) => [name, process.env[name]]))
  const { PATH, HOME } = process.env
  return { ...given, PATH, HOME, npm_config_prefer_offline: 'true' }
}

/** The official images, as far as the steps know them: Debian with nothing, and that of Node.js with `node` and an npm. */
async function base(image: string, stage: string): Promise<void> {
  if (image === 'debian:bookworm-slim') return
  assert.equal(
    image,
    `node:${process.version.slice(1)}-bookworm-slim`,
    'the image has the Node.js that the tests run on',
  )
  const bin = path.join(stage, 'usr', 'local', 'bin')
  await mkdir(bin, { recursive: true })
  await copyFile(process.execPath, path.join(bin, 'node'))
  // By its place: the name would be found in this folder first.
  const { stdout } = await run('sh', ['-c', 'realpath "$(command -v npm)"'])
  const npm = `'${process.execPath}' '${stdout.trim()}'`
  await writeFile(path.join(bin, 'npm'), `#!/bin/sh\nexec ${npm} "$@"\n`, { mode: 0o755 })
}

interface Locked {
  readonly version: string
  /** Where a link leads to. */
  readonly resolved?: string
  readonly link?: true
}

/** Every package has the version that the lock file names, and those of this repository replace the links to their sources. */
async function assertLocked(app: string): Promise<void> {
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'))
  const entries = Object.entries<Locked>(lock.packages)
  const links = new Map(entries.flatMap(([place, { link, resolved }]) => (link ? [[resolved, place]] : [])))
  const locked = entries.flatMap(([place, { link, version }]): [string, string][] => {
    const [folder = '', ...rest] = place.split(/(?=\/node_modules\/)/)
    return link ? [] : [[[links.get(folder) ?? folder, ...rest].join(''), version]]
  })
  const versions = new Map(locked)
  const found = globSync('{,**/}node_modules/{*,@*/*}/package.json', { cwd: app }).map(path.dirname)
  for (const place of found) {
    const { version } = JSON.parse(await readFile(path.join(app, place, 'package.json'), 'utf8'))
    assert.equal(version, versions.get(place), place)
  }
  const ours = [...links.values()].filter((place) => !place.endsWith('/console'))
  assert.deepEqual(
    ours.filter((place) => !found.includes(place)),
    [],
  )
}

/**
 * A user that has no entry in /etc/passwd, like the user of the image, whose number may have an entry on this machine. The data folder is
 * given to it.
 */
async function namelessOwner({ user, volumes }: Image): Promise<Image['user']> {
  if (process.getuid?.() !== 0) return user
  for (const volume of volumes) {
    const { uid, gid } = await stat(volume)
    assert.deepEqual({ uid, gid }, user)
  }
  const users = await readFile('/etc/passwd', 'utf8')
  let uid = user.uid
  while (users.includes(`:x:${uid}:`)) uid += 1
  for (const volume of volumes) await chown(volume, uid, user.gid)
  return { ...user, uid }
}

async function makeReadOnly({ root: tree, volumes }: Image): Promise<void> {
  await run('chmod', ['-R', 'a-w,a+rX', tree])
  for (const volume of volumes) await chmod(volume, 0o700)
}

async function gzipBytes(tree: string): Promise<number> {
  const tar = path.join(path.dirname(tree), 'image.tar')
  await run('tar', ['-cf', tar, '-C', tree, '.'])
  let bytes = 0
  await pipeline(createReadStream(tar), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) bytes += chunk.length
  })
  await rm(tar)
  return bytes
}

/** Starts a program with the variables, the folder and the user of the image. Only root can become another user. */
function startIn(image: Image, [program = '', ...args]: readonly string[], env: Image['env']): ChildProcess {
  const isRoot = process.getuid?.() === 0
  return spawn(program, args, {
    cwd: image.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot && { ...image.user }),
  })
}

/** Resolves with what a program printed. @throws Error with what it complained about, if it fails */
async function finished(child: ChildProcess): Promise<string> {
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`it ended with ${signal ?? `exit code ${code}`}: ${err}${out}`)
  return out
}
